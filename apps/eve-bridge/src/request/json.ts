// SPDX-License-Identifier: Apache-2.0
/** Types and predicates for JSON from outside the program, whose shape is unknown. */

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. Every member may be absent. */
export interface JsonObject {
  readonly [member: string]: JsonValue | undefined;
}

/** Configurations and answers have less than ten levels. Deeper values would end functions that call themselves, such as JSON.stringify. */
const maxDepth = 100;

/** Parses JSON text. Throws SyntaxError, also for more than 100 levels. */
export function parseJson(text: string): JsonValue {
  if (isDeeper(text, maxDepth)) throw new SyntaxError(`more than ${maxDepth} levels of nesting`);
  // JSON.parse can return nothing but these types; TypeScript calls it `any`.
  return JSON.parse(text) as JsonValue;
}

/**
 * Parses JSON text of any depth and leaves out the members of the outermost object that have more than 100 levels, so that what was
 * created for a configuration can be removed. Throws SyntaxError.
 */
export function parseShallowJson(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue;
  if (!isObject(value)) return isDeepValue(value) ? [] : value;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => !isDeepValue(member)));
}

/** Without recursion, level by level. */
function isDeepValue(value: JsonValue | undefined): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= maxDepth) return true;
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
  }
  return false;
}

/**
 * Counts brackets outside of strings. The result is meaningless if the text is not JSON. As in parseLimitedJson() of @switchyard/api:
 * eve-bridge imports modules of Node only.
 */
function isDeeper(text: string, levels: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "[" || character === "{") {
      if (++depth > levels) return true;
    } else if (character === "]" || character === "}") depth--;
  }
  return false;
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
