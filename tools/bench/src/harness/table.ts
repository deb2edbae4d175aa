// SPDX-License-Identifier: Apache-2.0
/**
 * renderTable renders a table that is readable in a terminal and is valid Markdown. Pure.
 * Usage: `renderTable(["step", "all nodes"], [["first policy", "3.1 s"]])`
 */

/** Pads all columns to their widest cell. Rows may have fewer cells than the head. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0), 3));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? "").padEnd(width)).join(" | ")} |`;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rows.map(line)].join("\n");
}

/** "0.25 s", "12.5 s" or "125 s"; "-" for undefined. */
export function showSeconds(seconds: number | undefined): string {
  if (seconds === undefined) return "-";
  return `${seconds.toFixed(seconds < 10 ? 2 : seconds < 100 ? 1 : 0)} s`;
}

/** "1.08 x" */
export function showRatio(ratio: number | undefined): string {
  return ratio === undefined ? "-" : `${ratio.toFixed(2)} x`;
}

/** "118 MB" */
export function showMb(mb: number | undefined): string {
  return mb === undefined ? "-" : `${Math.round(mb)} MB`;
}
