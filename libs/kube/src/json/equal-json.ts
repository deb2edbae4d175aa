// SPDX-License-Identifier: Apache-2.0
/**
 * equalJson compares two JSON values. A member that is undefined counts as absent.
 * Usage: `if (equalJson(before, after)) return`.
 */
import { isRecord, type KubeObject } from "../kube-object.ts";

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
function memberOf(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Returns a projection for a cache whose values share their unchanged parts. `project` must return JSON. */
export function sharingEqual<Wire extends KubeObject, T>(project: (object: Wire) => T) {
  return (object: Wire, before: T | undefined): T => shareEqual(before, project(object));
}

/**
 * shareEqual makes a new JSON value that reuses the equal parts of an old one. A later comparison of the two ends at once at each
 * shared part, and the garbage collector need not copy new objects. Do not use it for values whose parts are already shared with
 * other values, such as interned ones: parts that differ from the old value are copied. Returns a value equal to `after`
 * (equalJson), and `before` itself if it is equal. Changes neither.
 */
export function shareEqual<T>(before: unknown, after: T): T;

export function shareEqual(before: unknown, after: unknown): unknown {
  if (Array.isArray(after)) return Array.isArray(before) ? shareItems(before, after) : after;
  return isRecord(before) && isRecord(after) ? shareMembers(before, after) : after;
}

function shareItems(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  const shared = after.map((item, index) => shareEqual(before[index], item));
  return before.length === shared.length && shared.every((item, index) => item === before[index]) ? before : shared;
}

function shareMembers(before: Members, after: Members): Members {
  const shared: Record<string, unknown> = { ...after };
  for (const name of Object.keys(after)) shared[name] = shareEqual(memberOf(before, name), after[name]);
  const isSame =
    Object.keys(shared).every((name) => shared[name] === memberOf(before, name)) &&
    Object.keys(before).every((name) => before[name] === undefined || Object.hasOwn(shared, name));
  return isSame ? before : shared;
}

type Members = Readonly<Record<string, unknown>>;
