// SPDX-License-Identifier: Apache-2.0
/**
 * Usage: `median([1.2, 1.1, 3])` is 1.2.
 */

/** The middle value, or the mean of both middle values; NaN, which misses every goal, if one of the values is NaN. */
export function median(values: readonly number[]): number {
  if (values.some(Number.isNaN)) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}
