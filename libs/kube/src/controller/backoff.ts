// SPDX-License-Identifier: Apache-2.0
/**
 * backoffMs computes an exponential back-off with jitter, so that clients which fail together do not retry together.
 * Usage: `await sleep(clock, backoffMs(failures, { baseMs: 500, maxMs: 30_000 }, Math.random), signal)`.
 */

export interface BackoffRange {
  /** Back-off after the first failure. */
  readonly baseMs: number;
  readonly maxMs: number;
}

/**
 * Returns the time to wait after the n-th failure in a row (from 1): between half and all of baseMs * 2^(n-1), where the
 * product is at most maxMs. `random` returns a number in [0, 1).
 */
export function backoffMs(failures: number, { baseMs, maxMs }: BackoffRange, random: () => number): number {
  const wholeMs = Math.min(maxMs, baseMs * 2 ** (failures - 1));
  return wholeMs / 2 + random() * (wholeMs / 2);
}
