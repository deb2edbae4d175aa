// SPDX-License-Identifier: Apache-2.0
/**
 * An import cycle does not pass `npm run lint:cycles`, not even one of types or of dynamic imports, and neither do folders
 * that import each other.
 */
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "../../..");
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cycles-"));
  copyFileSync(join(root, "tsconfig.base.json"), join(folder, "tsconfig.base.json"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const cases = [
  { name: "one-direction", back: "export const b = 1;", isCycle: false },
  { name: "values", back: 'import { a } from "./a.ts"; export const b = () => a;', isCycle: true },
  { name: "types", back: 'import type { A } from "./a.ts"; export const b: A = 1;', isCycle: true },
  { name: "dynamic", back: 'export const b = () => import("./a.ts");', isCycle: true },
];

it("refuses cycles of values, of types and of dynamic imports, and nothing else", () => {
  for (const { name, back } of cases) {
    mkdirSync(join(folder, "libs", name), { recursive: true });
    const there = 'import { b } from "./b.ts"; export type A = number; export const a = () => b;';
    writeFileSync(join(folder, "libs", name, "a.ts"), `${there}\n`);
    writeFileSync(join(folder, "libs", name, "b.ts"), `${back}\n`);
  }
  const found = violations(".dependency-cruiser.cjs", /no-cycles: libs\/([\w-]+)\//g);
  expect(cases.map(({ name }) => [name, found.has(name)])).toEqual(cases.map(({ name, isCycle }) => [name, isCycle]));
}, 60_000);

it("refuses folders that import each other, directly or in a ring, and lets tests and inner folders import back", () => {
  const folders = [
    {
      name: "up-and-down",
      files: { "low/a.ts": "../high/b.ts", "high/b.ts": "", "high/c.ts": "../low/d.ts", "low/d.ts": "" },
    },
    {
      name: "ring",
      files: {
        "a/a.ts": "../b/b.ts",
        "b/b.ts": "",
        "b/c.ts": "../c/c.ts",
        "c/c.ts": "",
        "c/d.ts": "../a/e.ts",
        "a/e.ts": "",
      },
    },
    { name: "only-down", files: { "high/b.ts": "../low/d.ts", "low/d.ts": "" } },
    { name: "inner", files: { "rules/all.ts": "./one/one.ts", "rules/one/one.ts": "../rule.ts", "rules/rule.ts": "" } },
    { name: "of-tests", files: { "low/a.test.ts": "../high/b.ts", "high/b.ts": "../low/d.ts", "low/d.ts": "" } },
  ];
  for (const { name, files } of folders) {
    for (const [file, imported] of Object.entries(files)) {
      const path = join(folder, "libs", name, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(
        path,
        imported === "" ? "export const x = 1;\n" : `import { x } from "${imported}";\nconsole.log(x);\n`,
      );
    }
  }
  expect(violations(".dependency-cruiser.folders.cjs", /no-folder-cycles: libs\/([\w-]+)\//g)).toEqual(
    new Set(["up-and-down", "ring"]),
  );
}, 60_000);

/** The first group of `pattern` in what the check prints about the libs of the folder. */
function violations(config: string, pattern: RegExp): ReadonlySet<string | undefined> {
  const program = join(root, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const { stdout } = spawnSync(process.execPath, [program, "--config", join(root, config), "libs"], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, FORCE_COLOR: "0" }, // Nx sets it, and colours would be between the words
  });
  return new Set([...stdout.matchAll(pattern)].map(([, name]) => name));
}
