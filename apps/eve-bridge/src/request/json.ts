// SPDX-License-Identifier: Apache-2.0
/**
 * JSON as it comes from outside: typed as what it can be, not as what we hope for.
 * Usage: `const conf = parseJson(text); if (isObject(conf)) conf["name"]`.
 */

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. Every member may be absent. */
export interface JsonObject {
  readonly [member: string]: JsonValue | undefined;
}

/** The value that `text` spells. Throws SyntaxError. */
export function parseJson(text: string): JsonValue {
  // JSON.parse can return nothing but these types; TypeScript calls it `any`.
  return JSON.parse(text) as JsonValue;
}

/** Whether `value` is an object: not null, not an array. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !isArray(value);
}

/** Array.isArray that knows readonly arrays. */
export function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** What kind of JSON value this is, in the words of JSON: for messages. */
export function kindOf(value: JsonValue | undefined): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  return isArray(value) ? "array" : typeof value;
}
