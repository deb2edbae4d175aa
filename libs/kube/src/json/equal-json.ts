// SPDX-License-Identifier: Apache-2.0
/**
 * equalJson compares two JSON values. A member that is undefined counts as absent.
 * Usage: `if (equalJson(before, after)) return`.
 */
import { isRecord } from "../kube-object.ts";

export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  return (
    Object.keys(a).every((name) => equalJson(a[name], memberOf(b, name))) &&
    Object.keys(b).every((name) => b[name] === undefined || Object.hasOwn(a, name))
  );
}

/** Returns the object's own member, not an inherited one such as "__proto__" or "constructor". */
export function memberOf(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
