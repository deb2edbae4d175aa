// SPDX-License-Identifier: Apache-2.0
/** Usage lines in header comments and examples in the packages' READMEs compile against the code as it is. */
import { describe, expect, it } from "@jest/globals";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkUsage } from "./check-usage.ts";
import { fillEllipses, readmeSnippets, usageSnippets } from "./usage-snippets.ts";

const root = join(import.meta.dirname, "../../../..");

describe("usageSnippets", () => {
  it("takes the code after the word in the header comment, over several lines, without the values", () => {
    const source = [
      "// SPDX-License-Identifier: Apache-2.0",
      "/**",
      " * Reads `ranges`.",
      ' * Usage: `parse("2-5")` is `{ first: 2 }`, then `format({ first: 2,',
      " * last: 5 })`; in a shell `npm run demo`.",
      " */",
      'import { x } from "x";',
      "/** Usage: `y()`. */",
    ].join("\n");
    expect(usageSnippets(source)).toEqual([
      { line: 4, code: 'parse("2-5")', isCommand: false },
      { line: 4, code: "format({ first: 2, last: 5 })", isCommand: false },
      { line: 5, code: "npm run demo", isCommand: true },
    ]);
  });

  it("finds nothing in a file without a usage line", () => {
    expect(usageSnippets("/** Reads `ranges`. */\nexport const x = 1;\n")).toEqual([]);
  });
});

describe("readmeSnippets", () => {
  it("takes the blocks that are marked as TypeScript", () => {
    const blocks = readmeSnippets("# A\n\n```ts\na();\n```\n\n```sh\nls\n```\n");
    expect(blocks).toEqual([{ line: 4, code: "a();\n", isCommand: false }]);
  });
});

describe("fillEllipses", () => {
  it.each([
    { code: "f(a, …)", filled: "f(a, ...__rest)" },
    { code: "f({ a, … })", filled: "f({ a, ...__rest })" },
    { code: "f([...a, ...])", filled: "f([...a, ...__rest])" },
    { code: "if (a) …", filled: "if (a) __rest" },
    { code: 'a(); … b("…")', filled: 'a(); __rest; b("…")' },
    { code: "f((x) => { … })", filled: "f((x) => { __rest })" },
    { code: "f({ a: … })", filled: "f({ a: __rest })" },
  ])("$code", ({ code, filled }) => {
    expect(fillEllipses(code)).toBe(filled);
  });
});

describe("checkUsage", () => {
  const file = "tools/run/src/usage/usage-snippets.ts";
  const problemsOf = (code: string, isCommand = false) =>
    checkUsage(root, [{ file, snippets: [{ line: 1, code, isCommand }] }]).map(({ message }) => message);

  it("accepts code that compiles with the exports of the file", () => {
    expect(problemsOf("const [first] = usageSnippets(text); if (first?.isCommand) run(first.code)")).toEqual([]);
    expect(problemsOf("npm run demo", true)).toEqual([]);
  });

  it.each([
    { code: "usageSnippetsOf(text)", problem: "calls usageSnippetsOf, which no module exports" },
    { code: "usageSnippets(text, root)", problem: "Expected 1 arguments, but got 2." },
    { code: "usageSnippets(7)", problem: "Argument of type 'number' is not assignable to parameter of type 'string'." },
    { code: "npm run dance", problem: "package.json has no script dance", isCommand: true },
    { code: "node tools/run/dance.mjs", problem: "there is no file tools/run/dance.mjs", isCommand: true },
  ])("refuses $code", ({ code, problem, isCommand }) => {
    expect(problemsOf(code, isCommand)).toContain(problem);
  });

  it("finds no stale usage line or example in the workspace", () => {
    const folders = "{apps,libs,tools,e2e}";
    const paths = globSync([`${folders}/**/*.{ts,js,mjs}`, `{apps,libs,tools}/*/README.md`], {
      cwd: root,
      exclude: (path) => /(?:^|\/)(?:node_modules|dist)$|\.(?:test|gen)\.ts$/.test(path),
    });
    const files = paths.toSorted().map((path) => {
      const text = readFileSync(join(root, path), "utf8");
      return { file: path, snippets: path.endsWith(".md") ? readmeSnippets(text) : usageSnippets(text) };
    });
    expect(files.filter(({ snippets }) => snippets.length > 0).length).toBeGreaterThan(100);
    const problems = checkUsage(root, files);
    expect(
      problems.map(({ file, line, message, code }) => `${file}:${line}: ${message}: ${code.split("\n")[0] ?? ""}`),
    ).toEqual([]);
  }, 120_000);
});
