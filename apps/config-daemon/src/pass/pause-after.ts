// SPDX-License-Identifier: Apache-2.0
/**
 * When to make the next pass where nothing calls for one before.
 * Usage: `return { afterMs: pauseAfter(result, failures) };`
 */
import type { PassResult } from "./configure-node.ts";

/** Events tell of changes; this is for what no event tells of. */
const recheckMs = 5 * 60_000;

/** First and longest wait before failed steps are tried again; anything that changes cuts it short. */
const retry = { firstMs: 1_000, longestMs: 60_000 };

/** `failures`: how many passes in a row are to be tried again, this one included. */
export function pauseAfter(result: PassResult, failures: number): number {
  if (result === "retry") return Math.min(retry.firstMs * 2 ** (failures - 1), retry.longestMs);
  return recheckMs * (0.9 + Math.random() * 0.2);
}
