// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { compileWorkspace } from "./compile-workspace.ts";

let folder = "";

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "compile-")));
  const compilerOptions = {
    module: "nodenext",
    target: "es2024",
    noEmit: true,
    strict: true,
    verbatimModuleSyntax: true,
    types: [],
    lib: ["es2024"],
  };
  write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  write("package.json", '{ "type": "module" }');
  write("base.ts", "export function half(n: number): number { return n / 2; }");
  write("user.ts", 'import { half } from "./base.js"; export const one = half(2);');
  write("other.ts", "export const two = 2;");
  compile().save();
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

function compile() {
  return compileWorkspace({ config: join(folder, "tsconfig.json"), state: join(folder, "state/program.tsbuildinfo") });
}

const affected = () => compile().affected.map((file) => basename(file));

describe("compileWorkspace", () => {
  it("finds no file affected if nothing has changed since the state was saved", () => {
    expect(affected()).toEqual([]);
  });

  it("finds only a changed file affected if its declarations stay the same", () => {
    write("base.ts", "export function half(n: number): number { return n * 0.5; }");
    // TypeScript remembers the declarations of a file from its first change on.
    compile().save();
    write("base.ts", "export function half(n: number): number { return n / 2 + 0; }");
    expect(affected()).toEqual(["base.ts"]);
  });

  it("finds the users of a changed declaration affected, with their errors, until the state is saved", () => {
    write("base.ts", "export function half(n: string): string { return n; }");
    for (const { affected, errors } of [compile(), compile()]) {
      expect(affected.map((file) => basename(file))).toEqual(["base.ts", "user.ts"]);
      expect(errors.map(({ file, code }) => [basename(file?.fileName ?? ""), code])).toEqual([["user.ts", 2345]]);
    }
  });

  it("finds a file affected if a file that it imports has gone", () => {
    rmSync(join(folder, "base.ts"));
    expect(affected()).toEqual(["user.ts"]);
  });
});
