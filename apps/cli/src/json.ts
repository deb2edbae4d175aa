// SPDX-License-Identifier: Apache-2.0
/** JsonObject and functions that read untrusted JSON values. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether the value is an object and not null or an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns `object[key]` if it is an own member and a string. */
export function textAt(object: unknown, key: string): string | undefined {
  const value = isJsonObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof value === "string" ? value : undefined;
}

/** Returns the value at a path of own members: `at(pod, "spec", "nodeName")`. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (found, key) => (isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined),
    value,
  );
}

/** Returns the list at a path; empty if it is no list. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Returns the members whose values are strings of the object at a path. */
export function stringsAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, string>> {
  const found = at(value, ...path);
  const entries = isJsonObject(found) ? Object.entries(found) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
