// SPDX-License-Identifier: Apache-2.0
/**
 * A new JSON value made of the old one's parts, wherever they say the same. Whoever compares the two, or what was made of
 * the old one, is done at once where it finds the same part; and old parts lie where the garbage collector has put them.
 * Not for values whose parts are shared with others already (an interner's): what differs from before is copied.
 * Usage: `const value = shareEqual(before, parsed);`, of a whole cache `watchObjects({ project: sharingEqual(toFacts), … })`.
 */
import { memberOf } from "../json/equal-json.ts";
import { isRecord, type KubeObject } from "../kube-object.ts";

/** The projection of a cache whose values keep what did not change of them. It must make JSON. */
export function sharingEqual<Wire extends KubeObject, T>(project: (object: Wire) => T) {
  return (object: Wire, before: T | undefined): T => shareEqual(before, project(object));
}

/** Says what `after` says (equalJson); is `before` itself where that says it, too. Changes neither. */
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
