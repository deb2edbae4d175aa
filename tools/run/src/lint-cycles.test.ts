// SPDX-License-Identifier: Apache-2.0
/** An import cycle does not pass `npm run lint:cycles`, not even one of types or of dynamic imports. */
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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
  const program = join(root, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const config = join(root, ".dependency-cruiser.cjs");
  const { stdout } = spawnSync(process.execPath, [program, "--config", config, "libs"], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, FORCE_COLOR: "0" }, // Nx sets it, and colours would be between the words
  });
  const found = new Set([...stdout.matchAll(/no-cycles: libs\/([\w-]+)\//g)].map(([, name]) => name));
  expect(cases.map(({ name }) => [name, found.has(name)])).toEqual(cases.map(({ name, isCycle }) => [name, isCycle]));
}, 60_000);
