// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { findWorkspaceRoot } from "@switchyard/testing";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

interface Workflow {
  readonly jobs: Readonly<
    Record<string, { readonly strategy: { readonly matrix: { readonly part: readonly string[] } } }>
  >;
}

const root = findWorkspaceRoot();
const { jobs } = parse(readFileSync(join(root, ".github/workflows/nightly.yml"), "utf8")) as Workflow;
const partsOf = (job: string) => (jobs[job]?.strategy.matrix.part ?? []).map((part) => part.replace(/ .*/, ""));

/** Folders with tests, at any depth. */
const foldersWithTests = (parent: string) =>
  readdirSync(join(root, parent), { recursive: true })
    .map(String)
    .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules"))
    .map((file) => file.split("/")[0] ?? "");

describe("the workflow nightly", () => {
  it("runs all parts of npm run e2e", () => {
    // `npm test` runs the others.
    const parts = new Set(foldersWithTests("e2e").filter((folder) => !["integration", "src"].includes(folder)));
    expect(partsOf("e2e").sort()).toEqual([...parts].sort());
  });

  it("runs all benchmarks", () => {
    const main = readFileSync(join(root, "tools/bench/src/main.ts"), "utf8");
    const benchmarks = [...main.matchAll(/^ {2}(\w+): \(args\) => runBench/gm)].map(([, name = ""]) => name);
    expect(benchmarks.length).toBeGreaterThan(3);
    expect(partsOf("bench").sort()).toEqual(benchmarks.sort());
  });
});
