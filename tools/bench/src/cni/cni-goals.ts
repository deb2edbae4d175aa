// SPDX-License-Identifier: Apache-2.0
/**
 * The goals of the cni benchmark. Pure.
 * Usage: `missedGoals(cniGoals(report))`
 */
import { atMost, type Goal } from "../harness/goal.ts";
import type { CniResults } from "./cni-results.ts";

/** The titles of the series. */
export const titles = {
  node: "node -e 0",
  stock: "bridge VERSION (Go)",
  version: "VERSION",
  add: "ADD, virtual machine",
} as const;

/** The goals for the results. */
export function cniGoals({ series, atOnce }: CniResults): Goal[] {
  const find = (title: string) => series.find((one) => one.title === title);
  const base = find(titles.node);
  const ratio = (title: string) => {
    const one = find(title);
    return base === undefined || one === undefined ? undefined : undisturbed(one.ownMs) / undisturbed(base.ownMs);
  };
  return [
    atMost("VERSION beside node -e 0", ratio(titles.version), 1.15, "x"),
    atMost("own time of an ADD beside node -e 0", ratio(titles.add), 1.4, "x"),
    atMost("RSS of an ADD", find(titles.add)?.peakMb, 50, "MB"),
    atMost(`failures of ${atOnce.count} ADDs at once`, atOnce.failed, 0, ""),
  ];
}

/**
 * The 5th percentile of `times`. All runs do the same work, so longer times come from other work on the machine; the
 * shortest time of all is an outlier.
 */
export function undisturbed(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 20)] ?? Number.NaN;
}
