// SPDX-License-Identifier: Apache-2.0
/**
 * A pool's maxUnavailable: how many of its nodes may be drained at once (sriov-operator.md A.7, B.10).
 * Usage: `parseMaxUnavailable("33%", 10)` is `{ ok: true, value: 3 }`.
 */
import { err, ok, type Result } from "@switchyard/api";

/** Why the value cannot be used. */
export interface MaxUnavailableProblem {
  readonly code: "not-a-count" | "not-a-percentage";
  readonly value: number | string;
}

/**
 * The number of nodes, of a pool of `nodeCount`, that may be unavailable at once; Infinity where the value is absent.
 * A percentage (1 % to 100 %) is rounded down, but never to 0, which would block draining for ever and tell nobody
 * (M-12). The number 0 is taken at its word: it holds all drains until somebody raises it.
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
