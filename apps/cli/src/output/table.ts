// SPDX-License-Identifier: Apache-2.0
/**
 * Rows as columns, in kubectl's manner.
 * Usage: `table([["VENDOR", "DEVICE"], ["8086", "158b"]])`.
 */

/** Ends with a newline; no blanks at the ends of lines. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("   "));
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}
