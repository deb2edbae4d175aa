// SPDX-License-Identifier: Apache-2.0
/**
 * parseJsonObject parses JSON (RFC 8259) that users write, and reports the position of errors and what was expected
 * there. JSON.parse reports the position only in its message, and rounds numbers.
 * Usage: `parseJsonObject(spec.ipam)`, `parseJsonObjects(spec.metaPlugins)`.
 */
import { err, ok, type Result } from "@switchyard/api";
import type { Json, JsonObject } from "./json.ts";

/** Why a text is invalid. */
export interface JsonProblem {
  readonly code: "unexpected-text" | "unexpected-end" | "too-deep";
  /** What was expected at this position: '"," or "}"'. */
  readonly expected: string;
  /** Position in UTF-16 code units, starting at 0. */
  readonly offset: number;
  /** Line, starting at 1. */
  readonly line: number;
  /** Position in the line in UTF-16 code units, starting at 1. */
  readonly column: number;
  /** Path of the innermost value at this position: "routes[0].dst"; empty at the top level. */
  readonly path: string;
}

/** Maximum depth of nested values. It is deeper than any real configuration, and protects the stack. */
export const maxJsonDepth = 100;

/** Parses one object. */
export function parseJsonObject(text: string): Result<JsonObject, JsonProblem> {
  const cursor = startOf(text);
  const value = readObject(cursor);
  return value.ok && peek(cursor) !== "" ? fail(cursor, "the end of the text") : value;
}

/** Parses one or more objects separated by commas. In the path of a problem they are "[0]", "[1]" and so on. */
export function parseJsonObjects(text: string): Result<readonly JsonObject[], JsonProblem> {
  const cursor = startOf(text);
  const values: JsonObject[] = [];
  do {
    const value = within(cursor, values.length, readObject);
    if (!value.ok) return value;
    values.push(value.value);
  } while (skip(cursor, ","));
  return peek(cursor) === "" ? ok(values) : fail(cursor, '"," or the end of the text');
}

/** Position in the text, and the members and items that contain it. */
interface Cursor {
  readonly text: string;
  readonly path: (string | number)[];
  offset: number;
}

/** Result of a read function, which moves the cursor behind the value, or leaves it at the position of the problem. */
type Read<Value> = Result<Value, JsonProblem>;

function startOf(text: string): Cursor {
  return { text, path: [], offset: 0 };
}

function readObject(cursor: Cursor): Read<JsonObject> {
  if (!skip(cursor, "{")) return fail(cursor, "an object: {…}");
  const members = new Map<string, Json>();
  if (skip(cursor, "}")) return ok({ kind: "object", members });
  do {
    if (peek(cursor) !== '"') return fail(cursor, members.size === 0 ? 'a quoted name or "}"' : "a quoted name");
    const name = readText(cursor);
    if (!name.ok) return name;
    if (!skip(cursor, ":")) return fail(cursor, '":"');
    const value = within(cursor, name.value, readValue);
    if (!value.ok) return value;
    members.set(name.value, value.value);
  } while (skip(cursor, ","));
  return skip(cursor, "}") ? ok({ kind: "object", members }) : fail(cursor, '"," or "}"');
}

function readList(cursor: Cursor): Read<readonly Json[]> {
  skip(cursor, "[");
  const items: Json[] = [];
  if (skip(cursor, "]")) return ok(items);
  do {
    const item = within(cursor, items.length, readValue);
    if (!item.ok) return item;
    items.push(item.value);
  } while (skip(cursor, ","));
  return skip(cursor, "]") ? ok(items) : fail(cursor, '"," or "]"');
}

function readValue(cursor: Cursor): Read<Json> {
  const first = peek(cursor);
  if (first === "{") return readObject(cursor);
  if (first === "[") return readList(cursor);
  if (first === '"') return readText(cursor);
  const start = cursor.offset;
  const word = match(cursor, anyWord);
  const named = words.get(word);
  if (named !== undefined) return ok(named);
  if (numeral.test(word)) return ok({ kind: "number", digits: word });
  cursor.offset = start;
  return fail(cursor, "a value");
}

const anyWord = /[-+.\w]+/y;
const numeral = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/;
const words: ReadonlyMap<string, Json> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

function readText(cursor: Cursor): Read<string> {
  const start = cursor.offset;
  cursor.offset += 1;
  for (let isPlain = true; ; isPlain = false) {
    // Piece by piece: a single pattern for the whole string would need a stack proportional to its length.
    match(cursor, plain);
    const next = cursor.text[cursor.offset];
    if (next === '"' && isPlain) return ok(cursor.text.slice(start + 1, cursor.offset++));
    if (next === '"') break;
    if (next !== "\\") return fail(cursor, closingQuote);
    if (match(cursor, escape) === "") return fail(cursor, 'an escape such as "\\n", "\\"" or "\\u00e9"');
  }
  cursor.offset += 1;
  const text: unknown = JSON.parse(cursor.text.slice(start, cursor.offset)); // a valid string, including the quotes
  return typeof text === "string" ? ok(text) : fail(cursor, "a string");
}

const closingQuote = 'a closing quote (inside a string, write a line break as "\\n" and a tab as "\\t")';

/** Characters that need no escape in a string: all but quotes, backslashes and control characters. */
const plain = /[\x20\x21\x23-\x5b\x5d-\uffff]*/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Reads the value at `key` of the current value. */
function within<Value>(cursor: Cursor, key: string | number, read: (cursor: Cursor) => Read<Value>): Read<Value> {
  if (cursor.path.length >= maxJsonDepth) return fail(cursor, `at most ${maxJsonDepth} levels`, "too-deep");
  cursor.path.push(key);
  const value = read(cursor);
  if (value.ok) cursor.path.pop();
  return value;
}

/** Skips white space and returns the next character, or "" at the end. */
function peek(cursor: Cursor): string {
  // Comparing codes is faster than a pattern; this runs for each character outside of strings.
  while (isBlank(cursor.text.charCodeAt(cursor.offset))) cursor.offset += 1;
  return cursor.text.charAt(cursor.offset);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Skips white space and the given character. Reports whether the character was there. */
function skip(cursor: Cursor, character: string): boolean {
  const found = peek(cursor) === character;
  if (found) cursor.offset += 1;
  return found;
}

/** Reads the text that the sticky `pattern` matches at the cursor; "" if it does not match. */
function match(cursor: Cursor, pattern: RegExp): string {
  pattern.lastIndex = cursor.offset;
  if (!pattern.test(cursor.text)) return "";
  const found = cursor.text.slice(cursor.offset, pattern.lastIndex);
  cursor.offset = pattern.lastIndex;
  return found;
}

function fail({ text, offset, path }: Cursor, expected: string, code?: JsonProblem["code"]): Read<never> {
  const lines = text.slice(0, offset).split("\n");
  return err({
    code: code ?? (offset < text.length ? "unexpected-text" : "unexpected-end"),
    expected,
    offset,
    line: lines.length,
    column: (lines.at(-1) ?? "").length + 1,
    path: path
      .map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`))
      .join("")
      .replace(/^\./, ""),
  });
}
