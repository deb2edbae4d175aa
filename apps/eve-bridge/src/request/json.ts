// SPDX-License-Identifier: Apache-2.0
/** Types and predicates for JSON from outside the program, whose shape is unknown. */

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. Every member may be absent. */
export interface JsonObject {
  readonly [member: string]: JsonValue | undefined;
}

/** Parses JSON text. Throws SyntaxError. */
export function parseJson(text: string): JsonValue {
  // JSON.parse can return nothing but these types; TypeScript calls it `any`.
  return JSON.parse(text) as JsonValue;
}

/** Whether `value` is an object, and neither null nor an array. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !isArray(value);
}

/** Whether `value` is an array. TypeScript's Array.isArray does not narrow to a readonly array. */
export function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The kind of a JSON value, for messages: "array", "object", "string", "null", "missing" and so on. */
export function kindOf(value: JsonValue | undefined): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  return isArray(value) ? "array" : typeof value;
}
