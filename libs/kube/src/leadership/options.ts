// SPDX-License-Identifier: Apache-2.0
/**
 * What leader election is told, and what it gives to the work that leads.
 * Usage: `const onLeading: LeaderElectionOptions["onLeading"] = ({ transport, signal }) => run(transport, signal)`.
 */
import type { Clock } from "../clock.ts";
import type { LeaseName } from "./lease.ts";
import type { Transport } from "../http/transport.ts";

/** How long what holds. A leader that dies is followed after `leaseDurationMs`; one that ends in order, after `retryMs`. */
export interface LeaseTimings {
  /** Others take the lease this long after its last renewal. Whole seconds. */
  readonly leaseDurationMs: number;
  /** The leader stops this long after its last renewal. The rest is for requests under way, and for clocks' pace. */
  readonly renewDeadlineMs: number;
  /** Between two renewals, and between two looks at the lease of another. */
  readonly retryMs: number;
}

/** Those of Kubernetes' own components. */
export const defaultLeaseTimings: LeaseTimings = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

/** What work is given while it leads. */
export interface Leadership {
  /** For all writes: it refuses them with KubeError "NotLeading" once the lease may be another's. */
  readonly transport: Transport;
  /** Aborts when the leadership ends: with the caller's reason, or with KubeError "NotLeading". Work must end then. */
  readonly signal: AbortSignal;
  /** For what is not written through `transport`: ask right before. */
  isLeading(): boolean;
}

export interface LeaderElectionOptions {
  readonly transport: Transport;
  readonly lease: LeaseName;
  /** Of this process and no other, not even its successor: `${podName}_${randomUUID()}`. */
  readonly identity: string;
  /** Ends it all. */
  readonly signal: AbortSignal;
  /** Called once for each time of leading; a next time begins only when this one's promise has settled. */
  readonly onLeading: (leadership: Leadership) => Promise<void>;
  /** Told of requests that failed and are tried again. */
  readonly report: (error: unknown) => void;
  readonly timings?: LeaseTimings;
  readonly clock?: Clock;
  /** In [0, 1). */
  readonly random?: () => number;
  /** The wall clock, for people who read the Lease. */
  readonly now?: () => Date;
}
