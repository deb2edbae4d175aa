// SPDX-License-Identifier: Apache-2.0
/**
 * What the two sides of an election share, waiting and leading: the options with their defaults, and the claims that
 * this process makes.
 * Usage: `await writeLease(election.transport, lease, election.claim(lease.transitions), { timeoutMs })`.
 */
import { bootClock } from "./boot-clock.ts";
import type { Lease, LeaseClaim } from "./lease.ts";
import { defaultLeaseTimings, type LeaderElectionOptions } from "./options.ts";
import { microTime } from "../json/micro-time.ts";

export interface Election extends Required<LeaderElectionOptions> {
  /** A claim of this process, for its `transitions`-th change of hands. */
  claim(transitions: number, first?: "first"): LeaseClaim;
  /** Gives up the lease. */
  waiver(lease: Lease): LeaseClaim;
  /** How long a request may take if a second one is to fit before the deadline. */
  readonly requestMs: number;
}

/** A lease that is ours, and until when, by `clock`. */
export interface HeldLease {
  readonly lease: Lease;
  readonly validUntilMs: number;
}

/** Throws RangeError. */
export function createElection(options: LeaderElectionOptions): Election {
  const { timings = defaultLeaseTimings, now = () => new Date(), identity } = options;
  const { leaseDurationMs, renewDeadlineMs, retryMs } = timings;
  if (identity === "") throw new RangeError("an identity must not be empty: that is how a free lease looks");
  if (leaseDurationMs % 1000 !== 0) throw new RangeError("leaseDurationMs must be whole seconds, as in the Lease");
  if (renewDeadlineMs + retryMs > leaseDurationMs || 2 * retryMs > renewDeadlineMs) {
    throw new RangeError("renewDeadlineMs must leave retryMs of leaseDurationMs, and have room for two retries");
  }
  let writes = 0;
  const renewTime = () => microTime(now(), writes++);

  return {
    clock: bootClock,
    random: Math.random,
    ...options,
    timings,
    now,
    requestMs: renewDeadlineMs / 2,
    claim(transitions, first) {
      const time = renewTime();
      const claim = { holder: identity, durationMs: leaseDurationMs, transitions, renewTime: time };
      return first === undefined ? claim : { ...claim, acquireTime: time };
    },
    waiver: ({ transitions }) => ({ holder: "", durationMs: 1000, transitions, renewTime: renewTime() }),
  };
}
