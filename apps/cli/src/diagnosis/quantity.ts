// SPDX-License-Identifier: Apache-2.0
/**
 * countOf reads the quantity of an extended resource, which is a whole number.
 * Usage: `countOf("8")` is 8.
 */

/** Returns 0 for quantities that are not whole numbers, such as those of memory. */
export function countOf(quantity: unknown): number {
  const [, digits = "", suffix = ""] = /^(\d+)(k?)$/.exec(String(quantity)) ?? [];
  return digits === "" ? 0 : Number(digits) * (suffix === "k" ? 1000 : 1);
}
