// SPDX-License-Identifier: Apache-2.0
/**
 * compareText is a comparison function for sorting strings.
 * Usage: `names.toSorted(compareText)`.
 */

/** Compares by code unit. Unlike localeCompare, the result does not depend on the locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
