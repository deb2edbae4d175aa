// SPDX-License-Identifier: Apache-2.0
/** The fuzz run finds each kind of mistake in readers that have it. */
import { describe, expect, it } from "@jest/globals";
import { runTarget, type TargetRun } from "./run-target.ts";

const file = "e2e/fuzz/toy-parsers.fuzz.ts";
const maxRuns = 600_000;

function run(name: string, more: { readonly isBlind?: boolean } = {}): Promise<TargetRun> {
  const limits = { hangMs: 20_000, heapMiB: 128, processMiB: 1_500 };
  return runTarget({ file, name, seed: 1, budgetMs: 300_000, maxRuns, maxFindings: 1, corpus: [], limits, ...more });
}

describe("a fuzz run", () => {
  it("finds four bytes, one after the other, by the code that each reaches", async () => {
    const { findings } = await run("toy-magic");
    expect(findings).toHaveLength(1);
    expect(findings[0]?.text).toContain("the reader fails after 4 bytes");
    expect(Buffer.from(findings[0]?.input ?? []).toString("hex")).toBe("9d03b471");
  });

  it("does not find them with as many inputs that are changed without regard to what they reach", async () => {
    const { findings, explored } = await run("toy-magic", { isBlind: true });
    expect([findings, explored?.runs]).toEqual([[], maxRuns]);
  });

  it.each([
    { name: "toy-slow", what: "time that grows faster than the input", key: "slow", says: /CPU time/ },
    {
      name: "toy-quote",
      what: "an error whose cause quotes a secret",
      key: "FuzzFinding",
      says: /quotes what was read/,
    },
    { name: "toy-deep", what: "a value with too many levels", key: "RangeError", says: /Maximum call stack/ },
    { name: "toy-hang", what: "a loop without an end", key: "hang", says: /more than 20000 ms/ },
    { name: "toy-memory", what: "memory without a limit", key: "memory", says: /more than 128 MiB of heap/ },
    {
      name: "toy-prototype",
      what: "a change of the prototype of all objects",
      key: "FuzzFinding",
      says: /Object.prototype/,
    },
  ])("finds $what", async ({ name, key, says }) => {
    const { findings } = await run(name);
    expect(findings.map((finding) => finding.key.split(" ")[0])).toContain(key);
    expect(findings.map(({ text }) => text).join("\n")).toMatch(says);
  });
});
