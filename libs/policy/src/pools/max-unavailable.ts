// SPDX-License-Identifier: Apache-2.0
/**
 * parseMaxUnavailable returns how many nodes of a pool may be drained at once (sriov-operator.md A.7, B.10).
 * Usage: `parseMaxUnavailable("33%", 10)` is `{ ok: true, value: 3 }`.
 */
import { err, ok, type Result } from "@switchyard/api";

/** Why the value is invalid. */
export interface MaxUnavailableProblem {
  readonly code: "not-a-count" | "not-a-percentage";
  readonly value: number | string;
}

/**
 * Returns how many nodes of a pool with `nodeCount` nodes may be unavailable at once; Infinity if the value is absent.
 * A percentage (1% to 100%) is rounded down, but to at least 1: with 0 the pool would never drain, and nothing would
 * report it (sriov-operator.md M-12). The number 0 blocks all drains.
 */
export function parseMaxUnavailable(
  value: number | string | undefined,
  nodeCount: number,
): Result<number, MaxUnavailableProblem> {
  if (value === undefined) return ok(Number.POSITIVE_INFINITY);
  if (typeof value === "number") {
    return Number.isSafeInteger(value) && value >= 0 ? ok(value) : err({ code: "not-a-count", value });
  }
  const [, digits] = /^(\d+)%$/.exec(value) ?? [];
  const percentage = Number(digits); // NaN without digits
  if (!(percentage >= 1 && percentage <= 100)) return err({ code: "not-a-percentage", value });
  return ok(Math.max(1, Math.floor((percentage * nodeCount) / 100)));
}
