// SPDX-License-Identifier: Apache-2.0
/**
 * How long many answers took, in a few numbers. Pure.
 * Usage: `summarize([3, 1, 2]).p50` is 2.
 */

/** In milliseconds. */
export interface Latencies {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Of at least one. A percentile is the smallest value that so many of 100 do not exceed. */
export function summarize(times: readonly number[]): Latencies {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}
