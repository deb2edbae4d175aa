// SPDX-License-Identifier: Apache-2.0
/**
 * isZeroQuantity recognizes Kubernetes resource quantities that are zero (k8s.io/apimachinery/pkg/api/resource).
 * Usage: `isZeroQuantity("0m")` is true.
 */

/**
 * Reports whether the value is a zero quantity. A malformed quantity is not zero, because it may stand for a real use.
 */
export function isZeroQuantity(value: unknown): boolean {
  return typeof value === "number" ? value === 0 : typeof value === "string" && zero.test(value);
}

/** An optional sign, zeros, and an optional suffix: binary, decimal, or an exponent. */
const zero = /^[+-]?(?:0+(?:\.0*)?|\.0+)(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;
