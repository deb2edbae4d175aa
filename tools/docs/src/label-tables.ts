// SPDX-License-Identifier: Apache-2.0
/**
 * labelTables makes tables readable at every width, and their rows linkable. Each cell gets the head of its column, which narrow
 * screens show before the cell instead of a row of heads. A row that begins with a name in code gets an anchor, so that a value
 * of the chart has an address: reference/chart-values#operator-resourceprefix.
 */
import { headingId } from "./heading-ids.ts";

/** A token of markdown-it, as far as it is read here. */
export interface TableToken {
  readonly type: string;
  readonly content: string;
  readonly children: readonly TableToken[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

/** Changes the attributes of the tokens of a page. An anchor never has the id of a heading. */
export function labelTables(tokens: readonly TableToken[]): void {
  const ids = new Set(tokens.map((token) => (token.type === "heading_open" ? (token.attrGet("id") ?? "") : "")));
  let heads: string[] = [];
  let column = 0;
  let row: TableToken | undefined;
  for (const [at, token] of tokens.entries()) {
    const inline = tokens[at + 1];
    if (token.type === "table_open") heads = [];
    else if (token.type === "tr_open") [row, column] = [token, 0];
    else if (token.type === "th_open") heads.push(inline?.content ?? "");
    else if (token.type === "td_open") {
      const head = heads[column] ?? "";
      if (head !== "") token.attrSet("data-head", head);
      if (column === 0 && row !== undefined) anchor(row, inline, ids);
      column += 1;
    }
  }
}

/** Nothing for a cell with more than one name. Of equal names, the first has the anchor. */
function anchor(row: TableToken, cell: TableToken | undefined, ids: Set<string>): void {
  const [only, ...more] = cell?.children ?? [];
  if (only?.type !== "code_inline" || more.length > 0) return;
  const [name = ""] = only.content.replace(/^-+/, "").split(" ");
  const id = headingId(name.replaceAll(".", "-"));
  if (id === "" || ids.has(id)) return;
  ids.add(id);
  row.attrSet("id", id);
}
