// SPDX-License-Identifier: Apache-2.0
/**
 * Exponential back-off with jitter: many clients that failed together do not come back together.
 * Usage: `await sleep(clock, backoffMs(failures, { baseMs: 500, maxMs: 30_000 }, Math.random), signal)`.
 */

export interface BackoffRange {
  /** After the first failure. */
  readonly baseMs: number;
  readonly maxMs: number;
}

/**
 * How long to wait after the `failures`-th failure in a row (from 1): between half of and the whole of base x 2^(n-1),
 * at most the maximum. `random` is in [0, 1).
 */
export function backoffMs(failures: number, { baseMs, maxMs }: BackoffRange, random: () => number): number {
  const wholeMs = Math.min(maxMs, baseMs * 2 ** (failures - 1));
  return wholeMs / 2 + random() * (wholeMs / 2);
}
