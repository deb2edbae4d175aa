// SPDX-License-Identifier: Apache-2.0
/**
 * The goals of the ovsdb benchmark. Pure.
 * Usage: `missedGoals(ovsdbGoals({ clientMs: [90, 80], dumpMs: [200], changeMs: [0.4] }))` is `[]`.
 */
import { atMost, type Goal } from "../harness/goal.ts";

/** The measured times, in milliseconds. */
export interface OvsdbTimes {
  /** From the start of the client until its cache has all rows. */
  readonly clientMs: readonly number[];
  /** From the start of `ovsdb-client dump` to its end. */
  readonly dumpMs: readonly number[];
  /** From a transaction of one client to the event in another. */
  readonly changeMs: readonly number[];
}

/** Other work on the machine only adds to a time, so the best times are compared, and the median of the changes. */
export function ovsdbGoals({ clientMs, dumpMs, changeMs }: OvsdbTimes): readonly Goal[] {
  const ratio = Math.min(...clientMs) / Math.min(...dumpMs);
  return [
    atMost("all rows in the cache beside ovsdb-client dump", ratio, 1.5, "x"),
    atMost("arrival of a change, median", quantile(changeMs, 0.5), 10, "ms"),
  ];
}

/** The value below which the fraction `q` of `times` lies. */
export function quantile(times: readonly number[], q: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * q)] ?? Number.NaN;
}
