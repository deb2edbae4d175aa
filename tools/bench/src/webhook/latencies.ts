// SPDX-License-Identifier: Apache-2.0
/**
 * summarize computes percentiles of latencies. Pure.
 * Usage: `summarize([3, 1, 2]).p50` is 2.
 */

/** Percentiles in milliseconds. */
export interface Latencies {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** The percentiles of at least one time: p99 is the smallest value that 99% of the times do not exceed. */
export function summarize(times: readonly number[]): Latencies {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}
