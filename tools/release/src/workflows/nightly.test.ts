// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { findWorkspaceRoot } from "@switchyard/testing";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { listParts } from "./verb.ts";

interface Workflow {
  readonly jobs: Readonly<
    Record<string, { readonly strategy?: { readonly matrix: { readonly part: readonly string[] } } }>
  >;
}

const root = findWorkspaceRoot();
const { jobs } = parse(readFileSync(join(root, ".github/workflows/nightly.yml"), "utf8")) as Workflow;
const partsOf = (job: string) => (jobs[job]?.strategy?.matrix.part ?? []).map((part) => part.replace(/ .*/, ""));

describe("the workflow nightly", () => {
  it("gets the parts of npm run e2e from the folders with tests, faults at every point", async () => {
    const parts = await listParts(root);
    expect(parts).toEqual(expect.arrayContaining(["faults --all", "release", "upgrade", "vm"]));
    expect(parts).not.toContain("integration");
  });

  it("runs all benchmarks", () => {
    const sources = readFileSync(join(root, "tools/bench/src/scenarios.ts"), "utf8");
    const benchmarks = [...sources.matchAll(/from "\.\/scenarios\/(?:[\w-]+\/)?([\w-]+)\.ts"/g)].map(
      ([, name = ""]) => name,
    );
    expect(benchmarks.length).toBeGreaterThan(3);
    expect(partsOf("bench").sort()).toEqual(benchmarks.sort());
  });
});
