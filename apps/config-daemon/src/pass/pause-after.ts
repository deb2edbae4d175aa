// SPDX-License-Identifier: Apache-2.0
/**
 * pauseAfter returns the time until the next pass if no event starts one earlier.
 * Usage: `return { afterMs: pauseAfter(result, failures) };`
 */
import type { PassResult } from "./configure-node.ts";

/** Events report most changes. The periodic pass finds the others. */
const recheckMs = 5 * 60_000;

/** The operator merges the policies within a second of the first report. */
const unmergedMs = 5_000;

/** First and longest wait before failed steps are retried. */
const retry = { firstMs: 1_000, longestMs: 60_000 };

/** Returns milliseconds. `failures` is the number of consecutive passes with the result "retry", including this one. */
export function pauseAfter(result: PassResult, failures: number): number {
  if (result === "retry") return Math.min(retry.firstMs * 2 ** (failures - 1), retry.longestMs);
  if (result === "unmerged") return unmergedMs;
  return recheckMs * (0.9 + Math.random() * 0.2);
}
