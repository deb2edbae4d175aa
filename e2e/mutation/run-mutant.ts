// SPDX-License-Identifier: Apache-2.0
/** runMutant runs the tests of the domain packages that import a file, with one change of it. */
import { findWorkspaceRoot } from "@switchyard/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Mutant } from "./mutants.ts";

/** What became of a mutant. A mutant that keeps the tests from ending is noticed, too. */
export type Outcome = "failed" | "hung" | "survived";

/** The tests of all packages take a minute on a busy machine. */
const limitMs = 300_000;
const root = findWorkspaceRoot();
const packages = ["api", "policy", "plan", "render", "admission"];

/**
 * Runs the tests of the file's package and, if they pass, those of the other domain packages. Without a mutant, they run
 * unchanged; `file` chooses them.
 */
export async function runMutant(file: string, mutant?: Mutant): Promise<Outcome> {
  const own = packages.filter((name) => file.startsWith(`libs/${name}/`));
  const outcome = await runTests(file, own, mutant);
  if (outcome !== "survived") return outcome;
  return runTests(
    file,
    packages.filter((name) => !own.includes(name)),
    mutant,
  );
}

async function runTests(file: string, tested: readonly string[], mutant?: Mutant): Promise<Outcome> {
  const path = join(root, file);
  const args = [
    ...["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"],
    ...[join(root, "node_modules/jest/bin/jest.js"), "--config", join(__dirname, "jest.mutant.config.js")],
    ...tested.map((name) => `--testMatch=${root}/libs/${name}/src/**/*.test.ts`),
    ...["--findRelatedTests", path, "--passWithNoTests", "--bail", "--runInBand", "--silent", "--forceExit"],
  ];
  const env = { ...process.env, SWITCHYARD_MUTANT: JSON.stringify({ ...mutant, file: path }) };
  const jest = spawn(process.execPath, args, {
    cwd: root,
    stdio: "ignore",
    env,
    timeout: limitMs,
    killSignal: "SIGKILL",
  });
  await once(jest, "exit");
  if (jest.signalCode === "SIGKILL") return "hung";
  return jest.exitCode === 0 ? "survived" : "failed";
}
