// SPDX-License-Identifier: Apache-2.0
/**
 * toYaml writes JSON data as YAML, in the order of their keys. It is fast and its output is stable: a thousand node states
 * take milliseconds, and seconds in a general library. A string that a reader of YAML 1.1 or 1.2 could take for another type
 * is written in double quotes as in JSON, which is also YAML.
 */
import type { Output } from "../terminal.ts";

/** The text ends with a newline. Undefined members are left out, as in JSON. */
export function toYaml(data: unknown): string {
  const lines: string[] = [];
  const inline = inlineOf(data, 0);
  if (inline === undefined) addBlock(data, 0, "", lines);
  else lines.push(inline);
  return `${lines.join("\n")}\n`;
}

/** A key of more than 1,024 characters needs a question mark (YAML 1.2.2, 7.4.2). */
const longestKey = 1_000;

/** Adds the lines of a list or map that is not empty. The first line starts with `lead` instead of its indentation. */
function addBlock(data: unknown, depth: number, lead: string, lines: string[]): void {
  const indent = "  ".repeat(depth);
  let start = lead === "" ? indent : lead;
  if (Array.isArray(data)) {
    for (const item of data as readonly unknown[]) {
      addEntry(`${start}- `, item, { depth: depth + 1, opens: true }, lines);
      start = indent;
    }
    return;
  }
  for (const [key, value] of entriesOf(data)) {
    const name = scalar(key);
    const isLong = name.length > longestKey;
    if (isLong) lines.push(`${start}? ${name}`);
    addEntry(isLong ? `${indent}:` : `${start}${name}:`, value, { depth: depth + 1, opens: false }, lines);
    start = indent;
  }
}

/** `opens` means that a block can begin on the line of `head`, as after a dash. */
function addEntry(head: string, value: unknown, at: { depth: number; opens: boolean }, lines: string[]): void {
  const inline = inlineOf(value, at.depth);
  if (inline !== undefined) lines.push(at.opens ? `${head}${inline}` : `${head} ${inline}`);
  else if (at.opens) addBlock(value, at.depth, head, lines);
  else {
    lines.push(head);
    // Lists have the indentation of their key, as kubectl writes them.
    addBlock(value, Array.isArray(value) ? at.depth - 1 : at.depth, "", lines);
  }
}

/** A value that fits on the line of its key; undefined for lists and maps that are not empty. */
function inlineOf(value: unknown, depth: number): string | undefined {
  if (typeof value === "string") return text(value, depth);
  if (typeof value !== "object" || value === null) return value === undefined ? "null" : escaped(JSON.stringify(value));
  if (Array.isArray(value)) return value.length === 0 ? "[]" : undefined;
  return entriesOf(value).length === 0 ? "{}" : undefined;
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === "object" && value !== null
    ? Object.entries(value).filter(([, member]) => member !== undefined)
    : [];
}

/** Texts that a literal block reproduces exactly: printable lines without leading blanks in the first or trailing blanks in any line. */
const literalLines = /^[!-~][ -~]*(\n[ -~]*[!-~])+\n?$/;

function text(value: string, depth: number): string {
  if (!literalLines.test(value)) return scalar(value);
  const indent = "  ".repeat(Math.max(depth, 1));
  const whole = value.endsWith("\n");
  const body = (whole ? value.slice(0, -1) : value).split("\n").map((line) => `${indent}${line}`);
  return `${whole ? "|" : "|-"}\n${body.join("\n")}`;
}

const plain = /^[A-Za-z/][A-Za-z0-9_./-]*$/;
const otherMeaning = /^(true|false|yes|no|on|off|y|n|null|nan|inf)$/i;

function scalar(value: string): string {
  return plain.test(value) && !otherMeaning.test(value) ? value : escaped(JSON.stringify(value.toWellFormed()));
}

/** These are valid in JSON and not in YAML (1.2.2, 5.1), end a line there, or control a terminal. U+2028 is folded into a blank. */
const toEscape = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g;

/** The text of a JSON value with escapes that JSON and YAML have in common. Only its strings can have such characters. */
function escaped(json: string): string {
  return json.replace(toEscape, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** printData prints data as JSON or YAML. The same data always give the same bytes. */
export function printData(data: unknown, format: "json" | "yaml", output: Output): void {
  output.write(format === "json" ? `${escaped(JSON.stringify(data, null, 2))}\n` : toYaml(data));
}
