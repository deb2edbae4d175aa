// SPDX-License-Identifier: Apache-2.0
/**
 * Quantities of resources, as far as "none or some" goes (k8s.io/apimachinery/pkg/api/resource).
 * Usage: `isZeroQuantity("0m")` is true.
 */

/** Whether the value is a quantity of nothing. A malformed one is not: what cannot be read may be a use. */
export function isZeroQuantity(value: unknown): boolean {
  return typeof value === "number" ? value === 0 : typeof value === "string" && zero.test(value);
}

/** A sign, zeros, and a suffix: binary, decimal, or an exponent. */
const zero = /^[+-]?(?:0+(?:\.0*)?|\.0+)(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;
