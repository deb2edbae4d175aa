// SPDX-License-Identifier: Apache-2.0
/**
 * Coverage-guided fuzzing of every reader of bytes from others. FUZZ_SECONDS is the time for each target, SEED repeats a run, and
 * FUZZ_TARGETS has parts of the names of targets with commas. FUZZ_KEEP=1 writes a part of what was reached into e2e/fuzz/corpus.
 */
import { describe, expect, it } from "@jest/globals";
import type { FuzzTarget } from "@switchyard/testing/fuzz";
import { findWorkspaceRoot } from "@switchyard/testing/workspace-root";
import { createRequire } from "node:module";
import { join } from "node:path";
import { addInput, corpusFolder, grownFolder, readInputs, toKeep, writeInputs } from "./corpus.ts";
import { fuzzFiles } from "./fuzz-files.ts";
import { runTarget } from "./run-target.ts";

const seconds = Number(process.env["FUZZ_SECONDS"] ?? "120");
const seed = Number(process.env["SEED"] ?? `${Date.now() % 1_000_000}`);
const parts = (process.env["FUZZ_TARGETS"] ?? "").split(",");
const keeps = process.env["FUZZ_KEEP"] === "1";
const root = findWorkspaceRoot();
process.chdir(root); // targets name their test data from there

const load = createRequire(join(root, "e2e/fuzz/fuzz.test.ts"));
const targets = fuzzFiles.flatMap((file) =>
  (load(join(root, file)) as { targets: readonly FuzzTarget[] }).targets.map(({ name }) => ({ name, file })),
);

describe(`${seconds} s with the seed ${seed}`, () => {
  it.each(targets.filter(({ name }) => parts.some((part) => name.includes(part))))(
    "find nothing wrong in the reader of $name",
    async ({ name, file }) => {
      const kept = readInputs(corpusFolder(name));
      const corpus = [...kept, ...readInputs(grownFolder(name))];
      const { findings, explored } = await runTarget({ file, name, seed, budgetMs: seconds * 1_000, corpus });
      if (explored !== undefined) {
        const { runs, countersFromSeeds, countersReached, counters } = explored;
        process.stderr.write(
          `[fuzz] ${name}: ${runs} inputs, ${countersFromSeeds} -> ${countersReached} of ${counters} counters, ${explored.corpus.length} inputs kept\n`,
        );
        writeInputs(grownFolder(name), explored.corpus);
        if (keeps && findings.length === 0) writeInputs(corpusFolder(name), toKeep(explored.corpus));
      }
      const folder = join(root, "dist/test-logs/fuzz-findings", name);
      const found = findings.map(({ text, input }) => `${addInput(folder, input)}: ${text}`);
      expect(found).toEqual([]);
    },
    seconds * 1_000 + 600_000,
  );
});
