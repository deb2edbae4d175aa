// SPDX-License-Identifier: Apache-2.0
/** What holds for all pages: titles of decisions, and the controllers on the operator's page. */
import { describe, expect, it } from "@jest/globals";
import { posix } from "node:path";
import { readWorkspaceFile, workspaceFiles } from "./workspace-files.ts";

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
    const sources = workspaceFiles([".ts"]).filter((path) => /^apps\/operator\/src\/.*(?<!\.test)\.ts$/.test(path));
    const names = sources.flatMap((path) =>
      [...readWorkspaceFile(path).matchAll(/^ +name: "([a-z-]+)",\n(?:.*\n){0,12}? +reads[:,]/gm)].map(
        ([, name = ""]) => name,
      ),
    );
    expect(names.length).toBeGreaterThan(15);
    const rows = page.split("\n").filter((line) => line.startsWith("| ["));
    expect(names.filter((name) => !rows.some((row) => new RegExp(`[[ ]${name}[\\],]`).test(row)))).toEqual([]);
  });
});
