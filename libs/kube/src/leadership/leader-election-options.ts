// SPDX-License-Identifier: Apache-2.0
/**
 * LeaderElectionOptions are the options of runWhenLeading, and Leadership is what it passes to the work.
 * Usage: `const onLeading: LeaderElectionOptions["onLeading"] = ({ transport, signal }) => run(transport, signal)`.
 */
import type { Clock } from "../clock.ts";
import type { LeaseName } from "./lease.ts";
import type { Transport } from "../http/transport.ts";

/** Durations of leader election. A leader that dies is replaced after `leaseDurationMs`, one that stops after `retryMs`. */
export interface LeaseTimings {
  /** Time after the last renewal until another replica can take the lease. A multiple of 1000. */
  readonly leaseDurationMs: number;
  /** Time after the last renewal until the leader stops. The margin covers requests in progress and clock drift. */
  readonly renewDeadlineMs: number;
  /** Time between two renewals, and between two reads of a lease that another replica holds. */
  readonly retryMs: number;
}

/** The timings of the Kubernetes control plane components. */
export const defaultLeaseTimings: LeaseTimings = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

/** What the work gets while this process leads. */
export interface Leadership {
  /** Transport for all writes. It rejects them with KubeError "NotLeading" when the lease may have expired. */
  readonly transport: Transport;
  /** Aborts when the leadership ends, with the caller's reason or KubeError "NotLeading". The work must then stop. */
  readonly signal: AbortSignal;
  /** Reports whether the lease is valid. Call it right before each side effect that does not use `transport`. */
  isLeading(): boolean;
}

export interface LeaderElectionOptions {
  readonly transport: Transport;
  readonly lease: LeaseName;
  /** Identity of this process. It must differ from that of a restarted process: `${podName}_${randomUUID()}`. */
  readonly identity: string;
  /** Ends the leadership and the election. */
  readonly signal: AbortSignal;
  /** Called each time this process becomes leader. The next election starts after its promise has settled. */
  readonly onLeading: (leadership: Leadership) => Promise<void>;
  /** Called for failed requests, which are retried. */
  readonly report: (error: unknown) => void;
  /**
   * Called when an answer shows an earlier version of the Lease than the last one. A backup of the API server's database was restored then,
   * and watches may get nothing for hours (reflector.ts).
   */
  readonly onRewind?: () => void;
  readonly timings?: LeaseTimings;
  readonly clock?: Clock;
  /** Returns a number in [0, 1). */
  readonly random?: () => number;
  /** Returns the wall-clock time that is written into the Lease for people. */
  readonly now?: () => Date;
}
