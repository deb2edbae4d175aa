// SPDX-License-Identifier: Apache-2.0
/**
 * VfRange is an inclusive range of VF indexes, as it follows `#` in an entry of pfNames (sriov-operator.md B.5, B.6).
 * Usage: `parseVfRange("2-5")` is `{ ok: true, value: { first: 2, last: 5 } }`.
 */
import { err, ok, type Result } from "@switchyard/api";

declare const ordered: unique symbol;

/** An inclusive range of VF indexes with 0 <= first <= last. Only this file can create one. */
export interface VfRange {
  readonly first: number;
  readonly last: number;
  readonly [ordered]: true;
}

/** Why `text` is not a range. */
export interface VfRangeProblem {
  readonly code: "malformed" | "reversed";
  readonly text: string;
}

/**
 * Parses a range such as "2-5". Both ends are required; VF 3 alone is "3-3". An end has at most five digits, because
 * TotalVFs has 16 bits. Upstream is less strict: it reads "0-1-2" as 0-1 and an empty range as all VFs, and panics on
 * "5" (sriov-operator.md M-41).
 */
export function parseVfRange(text: string): Result<VfRange, VfRangeProblem> {
  const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(text) ?? [];
  if (first === undefined || last === undefined) return err({ code: "malformed", text });
  const range = { first: Number(first), last: Number(last) };
  return isOrdered(range) ? ok(range) : err({ code: "reversed", text });
}

/** Formats the range as in specs of SriovNetworkNodeState: "2-5". */
export function formatVfRange(range: VfRange): string {
  return `${range.first}-${range.last}`;
}

/** Returns the range of all VFs of a PF that has `numVfs` VFs; undefined if it has none. */
export function allVfs(numVfs: number): VfRange | undefined {
  const range = { first: 0, last: numVfs - 1 };
  return isOrdered(range) ? range : undefined;
}

/** Returns the number of VFs in the range. */
export function countVfsIn({ first, last }: VfRange): number {
  return last - first + 1;
}

/** Reports whether the range contains the VF with this index. */
export function includesVf({ first, last }: VfRange, vfId: number): boolean {
  return first <= vfId && vfId <= last;
}

/** Returns the range without the VFs before `first`; undefined if no VF is left. */
export function fromVf(range: VfRange, first: number): VfRange | undefined {
  const rest = { first: Math.max(range.first, first), last: range.last };
  return isOrdered(rest) ? rest : undefined;
}

/** Returns the range without the VFs after `last`; undefined if no VF is left. */
export function upToVf(range: VfRange, last: number): VfRange | undefined {
  const rest = { first: range.first, last: Math.min(range.last, last) };
  return isOrdered(rest) ? rest : undefined;
}

/** Reports whether the ranges have a VF in common. */
export function overlaps(a: VfRange, b: VfRange): boolean {
  return a.first <= b.last && b.first <= a.last;
}

function isOrdered(range: Pick<VfRange, "first" | "last">): range is VfRange {
  return range.first <= range.last;
}
