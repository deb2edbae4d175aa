// SPDX-License-Identifier: Apache-2.0
/**
 * isNewer compares versions of the product, such as "0.3.0" or "1.0.0-rc.1", by the precedence of Semantic Versioning 2.0.
 */

/** Whether `one` is newer than `other`. False if one of them is no version: what is unknown refuses nothing. */
export function isNewer(one: string, other: string): boolean {
  const [a, b] = [parse(one), parse(other)];
  if (a === undefined || b === undefined) return false;
  const release = compareParts(a.release, b.release);
  if (release !== 0) return release > 0;
  if (a.before.length === 0 || b.before.length === 0) return a.before.length < b.before.length; // "1.0.0" follows "1.0.0-rc.1"
  return compareParts(a.before, b.before) > 0;
}

interface Version {
  readonly release: readonly string[];
  readonly before: readonly string[];
}

function parse(text: string): Version | undefined {
  const [, release, before = ""] =
    /^v?(\d{1,9}\.\d{1,9}\.\d{1,9})(?:-([0-9A-Za-z.-]{1,64}))?(?:\+.*)?$/.exec(text) ?? [];
  return release === undefined
    ? undefined
    : { release: release.split("."), before: before === "" ? [] : before.split(".") };
}

/** Numbers by value and before words; words by their characters; the longer list follows. */
function compareParts(one: readonly string[], other: readonly string[]): number {
  for (const [index, a] of one.entries()) {
    const b = other[index];
    if (b === undefined) return 1;
    if (a === b) continue;
    const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
    if (isNumberA && isNumberB) return Number(a) - Number(b);
    if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
    return a < b ? -1 : 1;
  }
  return one.length - other.length;
}
