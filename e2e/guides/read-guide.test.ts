// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { missingLine, readGuide } from "./read-guide.ts";

const guide = `# Guide

## One

1. Step

   \`\`\`sh
   echo a
     echo b
   \`\`\`

   \`\`\`text
   a
   \`\`\`

## Two

<!-- not executed: needs a registry -->

\`\`\`sh
push
\`\`\`

Text.

\`\`\`yaml
no: command
\`\`\`

\`\`\`sh
last
\`\`\`
`;

describe("readGuide", () => {
  it("reads blocks with their output, and reasons", () => {
    expect(readGuide(guide)).toEqual([
      { line: 7, script: "echo a\n  echo b", output: "a" },
      { line: 20, script: "push", notExecuted: "needs a registry" },
      { line: 30, script: "last" },
    ]);
  });

  it("reads one section", () => {
    expect(readGuide(guide, "One").map(({ script }) => script)).toEqual(["echo a\n  echo b"]);
    expect(() => readGuide(guide, "Three")).toThrow('no heading "## Three"');
  });
});

describe("missingLine", () => {
  const output = "NAME       READY\nworker-1   True\nworker-2   False\n";
  it.each([
    { documented: "NAME READY\nworker-1 True", missing: undefined },
    { documented: "NAME  READY\n...\n<node>  False", missing: undefined },
    { documented: "...\nworker-2 True", missing: "worker-2 True" },
    { documented: "worker-1 True", missing: "worker-1 True" },
    { documented: "...\nworker-2 False\nworker-1 True", missing: "worker-1 True" },
  ])("compares $documented", ({ documented, missing }) => {
    expect(missingLine(documented, output)).toBe(missing);
  });
});
