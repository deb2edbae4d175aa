// SPDX-License-Identifier: Apache-2.0
/**
 * Changes single places of the domain packages and counts how many of these mutants their tests notice: a sample of each
 * file, one mutant for about 40 lines. MUTANT_LINES is the number of lines for each mutant, and MUTANT_FILES a part of the
 * paths of the files to try.
 */
import { describe, expect, it } from "@jest/globals";
import { findWorkspaceRoot } from "@switchyard/testing";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { mutantsOf, sampleOf, type Mutant } from "./mutants.ts";
import { runMutant, type Outcome } from "./run-mutant.ts";
import { accepted } from "./accepted-mutants.ts";

const packages = ["plan", "policy", "render", "admission"] as const;
/** Share of mutants that the tests of each package notice. */
const goal = 0.85;
const linesPerMutant = Number(process.env["MUTANT_LINES"] ?? "40");
const part = process.env["MUTANT_FILES"] ?? "";
const limitMs = 4 * 3_600_000;
const root = findWorkspaceRoot();

interface Tried {
  readonly mutant: Mutant;
  readonly outcome: Outcome;
}

/** Sources of a package that contain code of their own. */
function sourcesOf(name: string): readonly string[] {
  const directory = join("libs", name, "src");
  return readdirSync(join(root, directory), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !/\.(?:test|properties|gen)\.|(?:^|\/)(?:testing|testdata)\//.test(path))
    .map((path) => join(directory, path))
    .filter((path) => path.includes(part))
    .sort();
}

function sampleOfPackage(name: string): readonly Mutant[] {
  return sourcesOf(name).flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return sampleOf(mutantsOf(file, text), Math.ceil(text.split("\n").length / linesPerMutant));
  });
}

/** Tries all mutants, as many at once as there are processors. */
async function tryAll(mutants: readonly Mutant[]): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  const queue = mutants.values();
  const worker = async (): Promise<void> => {
    for (const mutant of queue) {
      const outcome = await runMutant(mutant.file, mutant);
      tried.push({ mutant, outcome });
      process.stderr.write(`[mutation ${tried.length}/${mutants.length}] ${outcome}: ${textOf(mutant)}\n`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return tried;
}

/** "libs/plan/src/plan.ts:70 `===` -> `!==`", in one line. */
function textOf({ file, line, original, replacement }: Mutant): string {
  const short = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 80);
  return `${file}:${line} \`${short(original)}\` -> \`${short(replacement)}\``;
}

function isAccepted({ file, original, replacement }: Mutant): boolean {
  return accepted.some((each) => each.file === file && each.original === original && each.replacement === replacement);
}

describe("the tests of the domain packages", () => {
  it(
    "pass without a mutant",
    async () => {
      expect(await runMutant("libs/plan/src/plan.ts")).toBe("survived");
    },
    limitMs,
  );

  it.each(packages)(
    "notice the mutants of libs/%s",
    async (name) => {
      const mutants = sampleOfPackage(name);
      const tried = await tryAll(mutants);
      const survivors = tried.filter(({ outcome, mutant }) => outcome === "survived" && !isAccepted(mutant));
      const score = mutants.length === 0 ? 1 : 1 - survivors.length / mutants.length;
      process.stderr.write(
        `libs/${name}: ${mutants.length - survivors.length} of ${mutants.length} mutants noticed or accepted, ${(100 * score).toFixed(0)} %\n` +
          survivors.map(({ mutant }) => `  survived: ${textOf(mutant)}\n`).join(""),
      );
      expect(score).toBeGreaterThanOrEqual(goal);
    },
    limitMs,
  );
});
