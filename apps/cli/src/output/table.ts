// SPDX-License-Identifier: Apache-2.0
/**
 * table aligns rows in columns, as kubectl does.
 * Usage: `table([["VENDOR", "DEVICE"], ["8086", "158b"]])`.
 */

/** The text ends with a newline. Lines have no trailing blanks. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("   "));
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}
