// SPDX-License-Identifier: Apache-2.0
/**
 * renderTable renders a table of Markdown.
 * Usage: `renderTable(["step", "time"], [["start", "0.25 s"]])`
 */

export interface TableOptions {
  /**
   * Whether columns are as wide as their widest cell, so that the table is readable in a terminal; true by default. Generated pages
   * are not padded, because a longer cell would change all lines.
   */
  readonly padded?: boolean;
}

/** Rows may have fewer cells than the head. A bar in a cell is escaped, and a line break becomes a blank. */
export function renderTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { padded = true }: TableOptions = {},
): string {
  const cells = [head, ...rows].map((row) => head.map((_, column) => cellOf(row[column] ?? "")));
  const widths = head.map((_, column) => (padded ? Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)) : 0));
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const [titles = "", ...lines] = cells.map(line);
  return [titles, line(widths.map((width) => "-".repeat(Math.max(3, width)))), ...lines].join("\n");
}

function cellOf(text: string): string {
  return text
    .replaceAll("|", "\\|")
    .replaceAll(/\s*\n\s*/g, " ")
    .trim();
}
