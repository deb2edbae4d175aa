// SPDX-License-Identifier: Apache-2.0
/**
 * VF ranges: what follows `#` in a pfNames entry, both ends included (sriov-operator.md B.5, B.6).
 * Usage: `parseVfRange("2-5")` is `{ ok: true, value: { first: 2, last: 5 } }`.
 */
import { err, ok, type Result } from "@switchyard/api";

declare const ordered: unique symbol;

/** VF indexes; 0 <= first <= last, since only this file can make one. */
export interface VfRange {
  readonly first: number;
  readonly last: number;
  readonly [ordered]: true;
}

/** Why the user's `text` is no range. A value, not an error: users mistype. */
export interface VfRangeProblem {
  readonly code: "malformed" | "reversed";
  readonly text: string;
}

/**
 * Reads "2-5". Both ends are required: the one VF 3 is "3-3". At most five digits, as TotalVFs has 16 bits. Nothing
 * else is taken for a range: upstream reads "0-1-2" as 0-1, nothing as the whole port, and dies of "5" (M-41).
 */
export function parseVfRange(text: string): Result<VfRange, VfRangeProblem> {
  const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(text) ?? [];
  if (first === undefined || last === undefined) return err({ code: "malformed", text });
  const range = { first: Number(first), last: Number(last) };
  return isOrdered(range) ? ok(range) : err({ code: "reversed", text });
}

/** As NodeState specs write it: "2-5". */
export function formatVfRange(range: VfRange): string {
  return `${range.first}-${range.last}`;
}

/** All VFs of a PF that has `numVfs` of them; undefined where it has none. */
export function allVfs(numVfs: number): VfRange | undefined {
  const range = { first: 0, last: numVfs - 1 };
  return isOrdered(range) ? range : undefined;
}

/** Whether some VF is in both. */
export function overlaps(a: VfRange, b: VfRange): boolean {
  return a.first <= b.last && b.first <= a.last;
}

// The brand comes from a predicate that checks; nothing is cast.
function isOrdered(range: Pick<VfRange, "first" | "last">): range is VfRange {
  return range.first <= range.last;
}
