// SPDX-License-Identifier: Apache-2.0
/** Tables and links of Markdown. */

/** A table; a bar in a cell is escaped, a line break becomes `<br>`. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.map(cell).join(" | ")} |`).join("\n");
}

/** `text` as code; nothing for nothing. */
export function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}

/** A link from a page in docs/reference to a file of the workspace. */
export function fileLink(path: string): string {
  return `[${path}](../../${path})`;
}

function cell(text: string): string {
  return text
    .replaceAll("|", "\\|")
    .replaceAll(/\s*\n\s*/g, " ")
    .trim();
}
