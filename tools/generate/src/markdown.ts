// SPDX-License-Identifier: Apache-2.0
/** Tables and links of Markdown. */
import { renderTable } from "@switchyard/testing";

/** A table; a bar in a cell is escaped, a line break becomes a blank. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return renderTable(head, rows, { padded: false });
}

/** `text` as code; nothing for nothing. */
export function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}

/** A link from a page in docs/reference to a file of the workspace. */
export function fileLink(path: string): string {
  return `[${path}](../../${path})`;
}
