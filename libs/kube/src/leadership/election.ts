// SPDX-License-Identifier: Apache-2.0
/**
 * Election is the state that waitForLease and lead share: the options with defaults, and the claims of this process.
 */
import { isBehind } from "../cache/cache.ts";
import { bootClock } from "../clock.ts";
import type { Lease, LeaseClaim } from "./lease.ts";
import { defaultLeaseTimings, type LeaderElectionOptions } from "./leader-election-options.ts";
import { microTime } from "../json/texts.ts";

export interface Election extends Required<LeaderElectionOptions> {
  /** Returns a claim of this process; `transitions` is the number of changes of the holder so far. */
  claim(transitions: number, first?: "first"): LeaseClaim;
  /** Returns a claim without a holder, which releases the lease. */
  release(lease: Lease): LeaseClaim;
  /** Must be called with each Lease that the server has answered with. */
  note(lease: Lease): void;
  /** Timeout of a request; a second request still fits before the deadline. */
  readonly requestMs: number;
}

/** A lease that this process holds, and its deadline by `clock`. */
export interface HeldLease {
  readonly lease: Lease;
  readonly validUntilMs: number;
}

/** Throws RangeError for an empty identity and for timings without a margin. */
export function createElection(options: LeaderElectionOptions): Election {
  const { timings = defaultLeaseTimings, now = () => new Date(), identity } = options;
  const { leaseDurationMs, renewDeadlineMs, retryMs } = timings;
  if (identity === "") throw new RangeError("identity must not be empty: a Lease with an empty holder is free");
  if (leaseDurationMs % 1000 !== 0)
    throw new RangeError("leaseDurationMs must be a multiple of 1000: a Lease has whole seconds");
  if (renewDeadlineMs + retryMs > leaseDurationMs || 2 * retryMs > renewDeadlineMs) {
    throw new RangeError("renewDeadlineMs must be at least 2 * retryMs and at most leaseDurationMs - retryMs");
  }
  let writes = 0;
  let known: string | undefined;
  const renewTime = () => microTime(now(), writes++);

  return {
    clock: bootClock,
    random: Math.random,
    onRewind: () => undefined,
    ...options,
    timings,
    now,
    requestMs: renewDeadlineMs / 2,
    claim(transitions, first) {
      const time = renewTime();
      const claim = { holder: identity, durationMs: leaseDurationMs, transitions, renewTime: time };
      return first === undefined ? claim : { ...claim, acquireTime: time };
    },
    note({ object }) {
      const { resourceVersion } = object.metadata;
      const isRewound = known !== undefined && resourceVersion !== undefined && isBehind(resourceVersion, known);
      known = resourceVersion;
      if (isRewound) options.onRewind?.();
    },
    release: ({ transitions }) => ({ holder: "", durationMs: 1000, transitions, renewTime: renewTime() }),
  };
}
