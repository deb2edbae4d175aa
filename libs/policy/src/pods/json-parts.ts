// SPDX-License-Identifier: Apache-2.0
/**
 * Parts of objects of any shape: pods and claims come from files, too, as people write them.
 * Usage: `for (const container of listAt(at(pod, "spec"), "containers")) textAt(container, "name")`.
 */

/** `value[key]` if that is its own. */
export function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

/** `value[key]` if that is a list; else an empty one. */
export function listAt(value: unknown, key: string): readonly unknown[] {
  const found = at(value, key);
  return Array.isArray(found) ? found : [];
}

/** `value[key]` if that is a text that is not empty. */
export function textAt(value: unknown, key: string): string | undefined {
  const found = at(value, key);
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** Keys and values of `value[key]`; none unless it is an object. */
export function entriesAt(value: unknown, key: string): readonly (readonly [string, unknown])[] {
  const found = at(value, key);
  return typeof found === "object" && found !== null ? Object.entries(found) : [];
}
