// SPDX-License-Identifier: Apache-2.0
/** runMutant runs the tests of the domain packages that import a file, with one change of it. */
import { findWorkspaceRoot } from "@switchyard/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Mutant } from "./mutants.ts";

/** What became of a mutant. A mutant that keeps the tests from ending is noticed, too. */
export type Outcome = "failed" | "hung" | "survived";

/** The tests of all four packages take a minute on a busy machine. */
const limitMs = 300_000;
const root = findWorkspaceRoot();

/** Without a mutant, the tests run unchanged; `file` chooses them. */
export async function runMutant(file: string, mutant?: Mutant): Promise<Outcome> {
  const path = join(root, file);
  const args = [
    ...["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"],
    ...[join(root, "node_modules/jest/bin/jest.js"), "--config", join(__dirname, "jest.mutant.config.js")],
    ...["--findRelatedTests", path, "--bail", "--runInBand", "--silent", "--forceExit"],
  ];
  const env = { ...process.env, SWITCHYARD_MUTANT: JSON.stringify({ ...mutant, file: path }) };
  const jest = spawn(process.execPath, args, { cwd: root, stdio: "ignore", env });
  let isHung = false;
  const limit = setTimeout(() => {
    isHung = true;
    jest.kill("SIGKILL");
  }, limitMs);
  await once(jest, "exit");
  clearTimeout(limit);
  if (isHung) return "hung";
  return jest.exitCode === 0 ? "survived" : "failed";
}
