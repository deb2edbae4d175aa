// SPDX-License-Identifier: Apache-2.0
/**
 * Users' JSON texts (RFC 8259) as values, or what is wrong with them and where. JSON.parse tells the place in words only,
 * and rounds numbers.
 * Usage: `parseJsonObject(spec.ipam)`, `parseJsonObjects(spec.metaPlugins)`.
 */
import { err, ok, type Result } from "@switchyard/api";
import type { Json, JsonObject } from "./json.ts";

/** Why a text is not the JSON that is wanted. */
export interface JsonProblem {
  readonly code: "unexpected-text" | "unexpected-end" | "too-deep";
  /** What would be right there: '"," or "}"'. */
  readonly expected: string;
  /** UTF-16 units before it, from 0. */
  readonly offset: number;
  /** From 1. */
  readonly line: number;
  /** UTF-16 units in its line, from 1. */
  readonly column: number;
  /** Of the value that it is in: "routes[0].dst"; empty at the top. */
  readonly path: string;
}

/** Deeper than any configuration is, and no danger to the stack. */
export const maxJsonDepth = 100;

/** Reads one object. */
export function parseJsonObject(text: string): Result<JsonObject, JsonProblem> {
  const cursor = startOf(text);
  const value = readObject(cursor);
  return value.ok && peek(cursor) !== "" ? fail(cursor, "the end") : value;
}

/** Reads objects with commas between them, at least one. In a problem's path they are "[0]", "[1]" and so on. */
export function parseJsonObjects(text: string): Result<readonly JsonObject[], JsonProblem> {
  const cursor = startOf(text);
  const values: JsonObject[] = [];
  do {
    const value = within(cursor, values.length, readObject);
    if (!value.ok) return value;
    values.push(value.value);
  } while (skip(cursor, ","));
  return peek(cursor) === "" ? ok(values) : fail(cursor, '"," or the end');
}

/** How far the text was read, and within which members and items. */
interface Cursor {
  readonly text: string;
  readonly path: (string | number)[];
  offset: number;
}

/** What stands at the cursor, which is left behind it; at the place of a problem it stops for good. */
type Read<Value> = Result<Value, JsonProblem>;

function startOf(text: string): Cursor {
  return { text, path: [], offset: 0 };
}

function readObject(cursor: Cursor): Read<JsonObject> {
  if (!skip(cursor, "{")) return fail(cursor, "an object: { … }");
  const members = new Map<string, Json>();
  if (skip(cursor, "}")) return ok({ kind: "object", members });
  do {
    if (peek(cursor) !== '"') return fail(cursor, members.size === 0 ? 'a name in quotes or "}"' : "a name in quotes");
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
    // Piece by piece: one pattern for all of it would need a stack as deep as the text is long.
    match(cursor, plain);
    const next = cursor.text[cursor.offset];
    if (next === '"' && isPlain) return ok(cursor.text.slice(start + 1, cursor.offset++));
    if (next === '"') break;
    if (next !== "\\") return fail(cursor, 'a closing quote (in it, line breaks are written as "\\n", tabs as "\\t")');
    if (match(cursor, escape) === "") return fail(cursor, 'an escape such as "\\n", "\\"" or "\\u00e9"');
  }
  cursor.offset += 1;
  const text: unknown = JSON.parse(cursor.text.slice(start, cursor.offset)); // it is one, quotes and all
  return typeof text === "string" ? ok(text) : fail(cursor, "a text");
}

/** All that may stand in a text as it is: no quote, no backslash, no control character. */
const plain = /[\x20\x21\x23-\x5b\x5d-\uffff]*/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Reads what stands at `key` of the value that is being read. */
function within<Value>(cursor: Cursor, key: string | number, read: (cursor: Cursor) => Read<Value>): Read<Value> {
  if (cursor.path.length >= maxJsonDepth) return fail(cursor, `at most ${maxJsonDepth} levels`, "too-deep");
  cursor.path.push(key);
  const value = read(cursor);
  if (value.ok) cursor.path.pop();
  return value;
}

/** The next character that is no white space, "" at the end. */
function peek(cursor: Cursor): string {
  // By code, not by pattern: it is done for each character that is not within a text.
  while (isBlank(cursor.text.charCodeAt(cursor.offset))) cursor.offset += 1;
  return cursor.text.charAt(cursor.offset);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Whether the next character was this one, which is then behind. */
function skip(cursor: Cursor, character: string): boolean {
  const found = peek(cursor) === character;
  if (found) cursor.offset += 1;
  return found;
}

/** What the sticky `pattern` finds right here; "" where it finds nothing. */
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
