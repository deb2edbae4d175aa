// SPDX-License-Identifier: Apache-2.0
/** Accessors for JSON values of unknown shape. Pods and claims may come from files, so they are not validated. */

/** Returns `value[key]` if it is an own property; otherwise undefined. */
export function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

/** Returns `value[key]` if it is a list; otherwise an empty list. */
export function listAt(value: unknown, key: string): readonly unknown[] {
  const found = at(value, key);
  return Array.isArray(found) ? found : [];
}

/** Returns `value[key]` if it is a non-empty string; otherwise undefined. */
export function textAt(value: unknown, key: string): string | undefined {
  const found = at(value, key);
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** Returns keys and values of `value[key]` if it is an object; otherwise an empty list. */
export function entriesAt(value: unknown, key: string): readonly (readonly [string, unknown])[] {
  const found = at(value, key);
  return typeof found === "object" && found !== null ? Object.entries(found) : [];
}

/**
 * isZeroQuantity recognizes Kubernetes resource quantities that are zero (k8s.io/apimachinery/pkg/api/resource).
 * Reports whether the value is a zero quantity. A malformed quantity is not zero, because it may stand for a real use.
 */
export function isZeroQuantity(value: unknown): boolean {
  return typeof value === "number" ? value === 0 : typeof value === "string" && zero.test(value);
}

/** An optional sign, zeros, and an optional suffix: binary, decimal, or an exponent. */
const zero = /^[+-]?(?:0+(?:\.0*)?|\.0+)(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;
