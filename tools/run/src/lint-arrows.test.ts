// SPDX-License-Identifier: Apache-2.0
/** Lint refuses imports against the arrows of docs/contributing/architecture.md, and long sentences in doc comments. */
import { describe, expect, it } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { join } from "node:path";

const root = join(process.cwd().replace(/[/\\]tools[/\\]run$/, ""));

/** Rules that each text breaks when it stands in that file; one ESLint for all, in a process of its own. */
function lint(cases: readonly { readonly file: string; readonly text: string }[]): readonly (readonly string[])[] {
  const script = `
    import { ESLint } from "eslint";
    const eslint = new ESLint({ cwd: ${JSON.stringify(root)} });
    const found = [];
    for (const { file, text } of ${JSON.stringify(cases)}) {
      const [result] = await eslint.lintText(text, { filePath: file });
      found.push(result.messages.map(({ ruleId, message }) => ruleId ?? message));
    }
    console.log(JSON.stringify(found));
  `;
  const args = ["--input-type=module", "--eval", script];
  const printed = execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  const output: unknown = JSON.parse(printed.trim().split("\n").at(-1) ?? ""); // warnings of Nx come first
  if (!Array.isArray(output)) throw new TypeError("no list of results");
  return output.map((rules: unknown) => (Array.isArray(rules) ? rules.map(String) : []));
}

const arrow = "@nx/enforce-module-boundaries";
const foreign = "no-restricted-imports";
const cases = [
  { file: "libs/api/src/kubernetes/built-in-kinds.ts", imports: "@switchyard/policy", breaks: arrow },
  { file: "libs/policy/src/vfs/vf-range.ts", imports: "@switchyard/kube", breaks: arrow },
  { file: "libs/policy/src/vfs/vf-range.ts", imports: "@switchyard/api", breaks: undefined },
  { file: "libs/kube/src/http/transport.ts", imports: "@switchyard/api", breaks: arrow },
  { file: "libs/host/src/ports/links.ts", imports: "@switchyard/plan", breaks: arrow },
  { file: "libs/host/src/ports/links.ts", imports: "koffi", breaks: foreign },
  { file: "libs/kube/src/connect/connect.ts", imports: "@kubernetes/client-node", breaks: foreign },
  { file: "libs/kube/src/kubeconfig/authenticate.ts", imports: "@kubernetes/client-node", breaks: undefined },
  { file: "libs/policy/src/vfs/vf-range.ts", imports: "@switchyard/testing", breaks: arrow },
  { file: "apps/operator/src/main.ts", imports: "@switchyard/host", breaks: arrow },
  { file: "apps/operator/src/main.ts", imports: "../../config-daemon/src/observe/observe.ts", breaks: arrow },
  { file: "apps/config-daemon/src/observe/observe.ts", imports: "@switchyard/host", breaks: undefined },
  { file: "apps/device-plugin-config/src/plugin-config.ts", imports: "@switchyard/host/sysfs", breaks: undefined },
  { file: "apps/device-plugin-config/src/plugin-config.ts", imports: "@switchyard/host", breaks: foreign },
  { file: "apps/eve-bridge/src/main.ts", imports: "@switchyard/api", breaks: arrow },
  { file: "apps/eve-bridge/src/main.ts", imports: "ajv", breaks: foreign },
];

describe("lint", () => {
  it("refuses imports against the arrows and lets the others pass", () => {
    const texts = cases.map(({ file, imports }) => ({
      file,
      text: `import * as x from "${imports}";\nconsole.log(x);\n`,
    }));
    const results = lint(texts).map((rules) => [arrow, foreign].find((rule) => rules.includes(rule)));
    expect(cases.map((it, index) => ({ ...it, breaks: results[index] }))).toEqual(cases);
  }, 120_000);

  it("refuses sentences of 34 words or more in doc comments", () => {
    const words = (count: number) => `W${" word".repeat(count - 1)}`;
    const comments = [
      { comment: `/** ${words(34)}. */`, isRefused: true },
      { comment: `/**\n * ${words(20)}\n * ${words(14)}.\n */`, isRefused: true },
      { comment: `/** ${words(33)}. */`, isRefused: false },
      { comment: `/** ${words(20)}. ${words(20)}. */`, isRefused: false },
      { comment: `/**\n * ${words(20)}:\n * - ${words(20)}\n * - ${words(20)}\n */`, isRefused: false },
      { comment: `/** ${words(3)}.\n * @pattern ${words(20)}\n * ${words(20)}\n */`, isRefused: false },
      { comment: `/* ${words(40)} */`, isRefused: false },
    ];
    const texts = comments.map(({ comment }) => ({
      file: "libs/policy/src/vfs/vf-range.ts",
      text: `${comment}\nconsole.log();\n`,
    }));
    const refused = lint(texts).map((rules) => rules.includes("comments/short-sentences"));
    expect(comments.map((it, index) => ({ ...it, isRefused: refused[index] }))).toEqual(comments);
  }, 120_000);
});
