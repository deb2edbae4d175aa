// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run e2e`: tests that need a virtual machine, network namespaces or minutes. `npm run e2e -- vm` runs those in the
 * folder e2e/vm, `npm run e2e -- faults --all` those in e2e/faults at each point that there is and not at a part of them;
 * other arguments go to Jest.
 */
import { binariesFor, ensureBinaries } from "@switchyard/testing";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closingLine, sumReports } from "./reports.ts";

const root = join(import.meta.dirname, "../../..");

const names = binariesFor({ controllerManager: true });
await ensureBinaries({ names, progress: (line) => void process.stderr.write(`${line}\n`) });

const reports = mkdtempSync(join(tmpdir(), "switchyard-e2e-"));
const jest = join(root, "node_modules/jest/bin/jest.js");
const given = process.argv.slice(2);
const all = "--all";
const run = spawnSync(
  process.execPath,
  ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning", jest]
    // One after the other: guests and namespaces want the machine for themselves.
    .concat(["--config", "jest.config.js", "--runInBand", "--verbose"])
    .concat(["--json", "--outputFile", join(reports, "e2e.json")])
    .concat(given.filter((argument) => argument !== all).map(asPattern)),
  {
    cwd: join(root, "e2e"),
    env: { ...process.env, ...(given.includes(all) && { SWITCHYARD_FAULTS: "all" }) },
    stdio: ["ignore", "ignore", "inherit"],
  },
);
const totals = sumReports(reports);
rmSync(reports, { recursive: true });
for (const name of totals.skippedNames) console.log(`SKIPPED: ${name}`);
console.log(closingLine(totals));
process.exitCode = run.status === 0 && totals.passed > 0 ? 0 : 1;

/** A folder's name stands for the folder: "faults" is not eve-bridge/faults.test.ts. */
function asPattern(argument: string): string {
  return existsSync(join(root, "e2e", argument)) ? `/e2e/${argument}/` : argument;
}
