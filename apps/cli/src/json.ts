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
