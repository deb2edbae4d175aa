// SPDX-License-Identifier: Apache-2.0
/** What holds for all pages: tables that can be read, titles of decisions, and the controllers on the operator's page. */
import { describe, expect, it } from "@jest/globals";
import { posix } from "node:path";
import { longestCell, tableCellsIn } from "./links.ts";
import { readWorkspaceFile, workspaceFiles } from "./workspace-files.ts";

describe("table cells", () => {
  it(`have at most ${longestCell} characters`, () => {
    const long = workspaceFiles([".md"]).flatMap((page) =>
      tableCellsIn(readWorkspaceFile(page))
        .filter(({ text }) => text.length > longestCell)
        .map(({ text, line }) => `${page}:${line} has ${text.length} characters in a cell: ${text.slice(0, 40)}…`),
    );
    expect(long).toEqual([]);
  });
});

describe("tableCellsIn", () => {
  it("reads the cells of a table with their lines, and no code", () => {
    const text = "a | b\n\n| a | b \\| c |\n| - | --- |\n| `d` | [e](f) |\n\n```text\n| g |\n```\n\n- | h | i |\n";
    expect(tableCellsIn(text)).toEqual([
      { text: "a", line: 3 },
      { text: "b \\| c", line: 3 },
      { text: "`d`", line: 5 },
      { text: "[e](f)", line: 5 },
    ]);
  });

  it("finds a cell that is too long", () => {
    const [cell] = tableCellsIn(`| ${"x".repeat(longestCell + 1)} |\n| --- |\n`);
    expect(cell?.text.length).toBeGreaterThan(longestCell);
  });
});

describe("decisions", () => {
  const pages = workspaceFiles([".md"]).filter((path) => /^docs\/decisions\/\d/.test(path));

  it("have the words of their titles as file names", () => {
    const titles = pages.map((path) => /^# (.*)$/m.exec(readWorkspaceFile(path))?.[1] ?? "");
    const names = titles.map((title) => title.toLowerCase().replaceAll("_", "").replaceAll(/\W+/g, "-"));
    expect(pages.length).toBeGreaterThan(5);
    expect(pages.map((path) => posix.basename(path, ".md"))).toEqual(names);
  });

  it("are listed with the numbers that are missing", () => {
    const list = readWorkspaceFile("docs/decisions/README.md");
    const numbers = pages.map((path) => Number(posix.basename(path).slice(0, 3)));
    const explained = [...list.matchAll(/\b(\d{3})(?: to (\d{3}))? (?:was|were) never assigned/g)].flatMap(
      ([, first, last = first]) =>
        Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i),
    );
    const all = Array.from({ length: Math.max(...numbers) }, (_, i) => i + 1);
    expect([...numbers, ...explained].toSorted((a, b) => a - b)).toEqual(all);
    expect(pages.filter((path) => !list.includes(`](${posix.basename(path)})`))).toEqual([]);
  });
});

describe("docs/operator.md", () => {
  it("names each controller of the operator", () => {
    const page = readWorkspaceFile("docs/operator.md");
    const names = workspaceFiles([".ts"])
      .filter((path) => /^apps\/operator\/src\/.*(?:-controllers?|failure-reports)\.ts$/.test(path))
      .flatMap((path) => [...readWorkspaceFile(path).matchAll(/\bname: "([a-z-]+)"/g)].map(([, name = ""]) => name));
    expect(names.length).toBeGreaterThan(15);
    const rows = page.split("\n").filter((line) => line.startsWith("| ["));
    expect(names.filter((name) => !rows.some((row) => new RegExp(`[[ ]${name}[\\],]`).test(row)))).toEqual([]);
  });
});
