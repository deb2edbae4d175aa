// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run e2e`: tests that need a virtual machine, network namespaces or minutes. `npm run e2e -- vm` runs those whose
 * path has "vm" in it; other arguments go to Jest.
 */
import { ensureBinaries } from "@switchyard/testing";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closingLine, sumReports } from "./reports.ts";

const root = join(import.meta.dirname, "../../..");

await ensureBinaries({ progress: (line) => void process.stderr.write(`${line}\n`) });

const reports = mkdtempSync(join(tmpdir(), "switchyard-e2e-"));
const jest = join(root, "node_modules/jest/bin/jest.js");
const run = spawnSync(
  process.execPath,
  ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning", jest]
    // One after the other: guests and namespaces want the machine for themselves.
    .concat(["--config", "jest.config.js", "--runInBand", "--verbose"])
    .concat(["--json", "--outputFile", join(reports, "e2e.json")])
    .concat(process.argv.slice(2)),
  { cwd: join(root, "e2e"), stdio: ["ignore", "ignore", "inherit"] },
);
const totals = sumReports(reports);
rmSync(reports, { recursive: true });
for (const name of totals.skippedNames) console.log(`SKIPPED: ${name}`);
console.log(closingLine(totals));
process.exitCode = run.status === 0 && totals.passed > 0 ? 0 : 1;
