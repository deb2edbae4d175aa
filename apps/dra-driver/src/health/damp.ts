// SPDX-License-Identifier: Apache-2.0
/**
 * createDamping turns what is observed into what is reported, so that a link that flaps does not make each claim, slice and pod follow.
 * A failure counts when it has lasted for a second. A recovery counts when it has lasted for five seconds, and twice as long after each
 * failure that follows another one within ten minutes, up to two minutes.
 */

/** A value of the taint switchyard.io/unhealthy. */
export type HealthReason = "no-carrier" | "driver-lost" | "device-error" | "pcie-errors" | "pf-gone" | "vf-gone";

/** What is wrong. */
export interface Problem {
  readonly reason: HealthReason;
  /** A sentence. */
  readonly message: string;
}

export interface Damping {
  /** Takes what is observed now, and returns what is to be reported. */
  judge(key: string, observed: Problem | undefined, nowMs: number): Problem | undefined;
  /** Time until a judgement can change without a new observation; undefined if none can. */
  nextMs(nowMs: number): number | undefined;
}

interface Judged {
  readonly observed: Problem | undefined;
  /** Since when a problem is observed, or none. */
  readonly sinceMs: number;
  readonly reported: Problem | undefined;
  /** Number of failures that followed each other. */
  readonly flaps: number;
  readonly recoveredMs: number;
}

const failureMs = 1_000;
const recoveryMs = 5_000;
const longestRecoveryMs = 120_000;
const memoryMs = 600_000;

export function createDamping(): Damping {
  const known = new Map<string, Judged>();
  return {
    judge(key, observed, nowMs) {
      const before = known.get(key) ?? start(observed, nowMs);
      const isSame = (before.observed === undefined) === (observed === undefined);
      const after = settle({ ...before, observed, sinceMs: isSame ? before.sinceMs : nowMs }, nowMs);
      known.set(key, after);
      return after.reported;
    },
    nextMs(nowMs) {
      const due = [...known.values()].filter(isPending).map((each) => Math.max(each.sinceMs + waitMs(each) - nowMs, 0));
      return due.length === 0 ? undefined : Math.min(...due);
    },
  };
}

/** What is observed first has been so for an unknown time. */
function start(observed: Problem | undefined, nowMs: number): Judged {
  return { observed, sinceMs: nowMs, reported: observed, flaps: 0, recoveredMs: -Infinity };
}

function settle(judged: Judged, nowMs: number): Judged {
  const { observed, reported, recoveredMs } = judged;
  if (!isPending(judged)) return { ...judged, reported: observed };
  if (nowMs - judged.sinceMs < waitMs(judged)) return judged;
  if (observed === undefined) return { ...judged, reported: undefined, recoveredMs: nowMs };
  const flaps = nowMs - recoveredMs < memoryMs ? judged.flaps + 1 : 0;
  return reported === undefined ? { ...judged, reported: observed, flaps } : judged;
}

function isPending({ observed, reported }: Judged): boolean {
  return (observed === undefined) !== (reported === undefined);
}

function waitMs({ observed, flaps }: Judged): number {
  return observed === undefined ? Math.min(recoveryMs * 2 ** flaps, longestRecoveryMs) : failureMs;
}
