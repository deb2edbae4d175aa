// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run e2e` runs the tests that need a virtual machine, network namespaces or several minutes. `npm run e2e --
 * vm` runs the tests in e2e/vm, `npm run e2e -- faults --all` those in e2e/faults at every fault point instead of a
 * sample. Other arguments are passed to Jest.
 */
import { createProgress, binariesFor, ensureBinaries, ensurePrograms, TestingError } from "@switchyard/testing";
import { ensureLabPackages, VmLabError } from "@switchyard/vm-lab";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needsOfTests } from "./e2e-programs.ts";
import { closingReport, sumReports } from "./reports.ts";

const root = join(import.meta.dirname, "../../..");
const given = process.argv.slice(2);
const all = "--all";

const help = `npm run e2e [-- [NAME...] [--all] [OPTION...]]

Runs the tests in e2e that need a virtual machine, network namespaces or several minutes; the tests of all folders take hours.
Logs of the last run of each file: dist/test-logs.
  NAME     folder or file in e2e, such as vm or vm/ovs, or a pattern of paths
  --all    test every fault point instead of a sample
  OPTION   passed to Jest, such as -t "name of a test"
`;

if (given.includes("--help")) {
  process.stdout.write(help);
  process.exit();
}

const jest = join(root, "node_modules/jest/bin/jest.js");
const selection = ["--config", "jest.config.js"].concat(given.filter((argument) => argument !== all).map(asPattern));
await installWhatTestsNeed();
const names = binariesFor({ controllerManager: true });
await ensureBinaries({ names, progress: (line) => void process.stderr.write(`${line}\n`) });

const reports = mkdtempSync(join(tmpdir(), "switchyard-e2e-"));
const run = spawnSync(
  process.execPath,
  ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning", jest]
    // One after the other, because guests and network namespaces need the whole machine.
    .concat(["--runInBand", "--verbose"])
    // The daemons that faults/hosts loses never end, and would keep Jest until the deadline of their passes, 30 minutes.
    .concat(["--forceExit"])
    .concat(["--json", "--outputFile", join(reports, "e2e.json")])
    .concat(selection),
  {
    cwd: join(root, "e2e"),
    env: { ...process.env, ...(given.includes(all) && { SWITCHYARD_FAULTS: "all" }) },
    stdio: ["ignore", "ignore", "inherit"],
  },
);
const totals = sumReports(reports);
rmSync(reports, { recursive: true });
console.log(closingReport(totals));
process.exitCode = run.status === 0 && totals.passed > 0 ? 0 : 1;

/** Installs the programs of this machine that the chosen tests run, or ends with a line that says what is missing. */
async function installWhatTestsNeed(): Promise<void> {
  const list = spawnSync(process.execPath, [jest, "--listTests", ...selection], {
    cwd: join(root, "e2e"),
    encoding: "utf8",
  });
  const { programs, lab } = needsOfTests(list.stdout.split("\n"));
  try {
    await ensurePrograms(programs);
    if (lab) await ensureLabPackages(createProgress({ name: "vm-lab" }));
  } catch (error) {
    if (!(error instanceof TestingError || error instanceof VmLabError)) throw error;
    process.stderr.write(`npm run e2e: ${error.message}\n`);
    process.exit(1);
  }
}

/**
 * Turns the name of a folder or file into a pattern that matches it, and a test file of the same name beside the folder, only:
 * "faults" must not match eve-bridge/faults.test.ts.
 */
function asPattern(argument: string): string {
  return existsSync(join(root, "e2e", argument)) ? `/e2e/${argument}($|/|[.]test[.]ts$)` : argument;
}
