// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createMarkdownRenderer } from "vitepress";
import { labelTables } from "./label-tables.ts";

async function render(text: string): Promise<string> {
  const md = await createMarkdownRenderer(import.meta.dirname, {
    config(renderer) {
      renderer.core.ruler.push("tables", ({ tokens }) => {
        labelTables(tokens);
      });
    },
  });
  return md.render(text);
}

const table = (...rows: readonly string[]) => ["| Value | Meaning |", "| --- | --- |", ...rows].join("\n");

describe("labelTables", () => {
  it("gives each cell the head of its column, and each named row an anchor", async () => {
    const html = await render(table("| `operator.resourcePrefix` | Prefix. |", "| `--log-level error` | Level. |"));
    expect(html).toContain('<tr id="operator-resourceprefix">');
    expect(html).toContain('<tr id="log-level">');
    expect(html.match(/<td data-head="Value">/g)).toHaveLength(2);
    expect(html.match(/<td data-head="Meaning">/g)).toHaveLength(2);
    expect(html).not.toContain("<th data-head");
  });

  it("gives no anchor twice, and none to rows without one name", async () => {
    const rows = [table("| `a` | 1 |", "| `a` | 2 |"), table("| `b` or `c` | 3 |", "| text | 4 |", "| `d` | 5 |")];
    const html = await render(["## d", ...rows].join("\n\n"));
    expect([...html.matchAll(/<tr id="([^"]*)"/g)].map(([, id]) => id)).toEqual(["a"]);
  });
});
