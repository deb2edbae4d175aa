// SPDX-License-Identifier: Apache-2.0
/**
 * Control characters, and those that change the direction of the text around them (Unicode 16, UAX #9), so that a text could show
 * another name than it has.
 */
const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** printable makes a text of users fit for a terminal: no line breaks, control characters or changes of direction. */
export function printable(text: string): string {
  return joinLines(text).replace(unprintable, "?");
}

/** Line by line: a pattern with blanks on both sides of the break takes quadratic time on a text of many blanks. */
function joinLines(text: string): string {
  const lines = text.split("\n");
  if (lines.length === 1) return text;
  const [first = "", ...more] = lines;
  const last = more.pop() ?? "";
  const inner = more.map((line) => line.trim()).filter((line) => line !== "");
  return [first.trimEnd(), ...inner, last.trimStart()].join(" ");
}

const maxLength = 600;

/** pageText makes a text of the cluster fit for a page: as printable, and with a limited length. */
export function pageText(text: string): string {
  const plain = printable(text);
  return plain.length <= maxLength ? plain : `${plain.slice(0, maxLength)} … (${plain.length} characters)`;
}

/** "100 Gb/s" of "100000 Mb/s". Undefined if the link is down or its speed is not known. */
export function speedText(linkSpeed = ""): string | undefined {
  const [, digits] = /^(\d+) Mb\/s$/.exec(linkSpeed) ?? [];
  if (digits === undefined) return undefined;
  return Number(digits) < 1000 ? linkSpeed : `${Number(digits) / 1000} Gb/s`;
}

/** Breaks text into lines at blanks. Lines have at most `width` characters, except a longer word, which is on a line by itself. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/).filter((part) => part !== "")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return line === "" ? lines : [...lines, line];
}

/** Aligns rows in columns, as kubectl does. The text ends with a newline. Lines have no trailing blanks. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("   "));
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}
