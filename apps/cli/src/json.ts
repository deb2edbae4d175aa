// SPDX-License-Identifier: Apache-2.0
/** JSON values as they come from outside. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** Neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `object[key]` if that is its own and a text. */
export function textAt(object: unknown, key: string): string | undefined {
  const value = isJsonObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof value === "string" ? value : undefined;
}
