// SPDX-License-Identifier: Apache-2.0
/**
 * `npm test` provides the binaries of the API server, of Helm and of other Go programs, runs the tests of all projects with Nx, and prints as its last line
 * "N passed, N failed, N skipped".
 */
import { goPrograms } from "@switchyard/go-programs";
import { binariesFor, ensureBinaries } from "@switchyard/testing";
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { closingReport, sumReports } from "./reports.ts";

const root = join(import.meta.dirname, "../../..");
const reports = join(root, "reports");

const names = binariesFor({ controllerManager: true });
await ensureBinaries({ names, progress: (line) => void process.stderr.write(`${line}\n`) });
// Before the tests, whose time limits do not include builds.
for (const name of ["helm3", "helm4", "kubeconform", "network-resources-injector"] as const) await goPrograms(name);

rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });
const nx = join(root, "node_modules/.bin/nx");
const run = spawnSync(nx, ["run-many", "-t", "test", "--parallel=2", ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
});

const totals = sumReports(reports);
const isGreen = run.status === 0 && totals.failed === 0 && totals.passed > 0;
console.log(closingReport(isGreen || totals.failed > 0 ? totals : { ...totals, failed: 1 }));
process.exitCode = isGreen && !(process.env["CI"] && totals.skipped > 0) ? 0 : 1;
