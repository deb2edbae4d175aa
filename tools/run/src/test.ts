// SPDX-License-Identifier: Apache-2.0
/**
 * `npm test` provides the binaries of the API server, of Helm and of other Go programs, and runs the tests of all
 * projects with Nx. It prints as its last line "N passed, N failed, N skipped". `npm test -- PATH...` runs test files
 * or folders directly, without Nx and its cache, and `npm test -- --base COMMIT` the tests of the projects that the
 * changes since this commit affect. Other options are passed to Nx. `npm test -- --prepare` only provides the binaries.
 */
import { goPrograms } from "@switchyard/go-programs";
import { binariesFor, ensureBinaries, lendControlPlanes } from "@switchyard/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { closingReport, sumReports } from "./reports.ts";

const goProgramsOfTests = ["helm3", "helm4", "kubeconform", "network-resources-injector"] as const;

const root = join(import.meta.dirname, "../../..");
const reports = join(root, "reports");
const prepare = "--prepare";
const given = process.argv.slice(2);
const paths = given.filter((argument) => !argument.startsWith("-") && given[given.indexOf(argument) - 1] !== "--base");
const missing = paths.find((path) => !existsSync(resolve(path)) || projectOf(path) === undefined);
if (missing !== undefined) {
  console.error(
    `npm test: ${missing} is not a file or folder of a project (apps, libs, tools, e2e/integration, e2e/src)`,
  );
  process.exit(64);
}

await using running = new AsyncDisposableStack();
if (paths.length === 0 || paths.some((path) => projectOf(path) === "e2e")) {
  // Before the tests, whose time limits do not include builds.
  const names = binariesFor({ controllerManager: true });
  await ensureBinaries({ names, progress: (line) => void process.stderr.write(`${line}\n`) });
  // A single file builds what it needs of these by itself.
  if (paths.length === 0) for (const name of goProgramsOfTests) await goPrograms(name);
  if (given.includes(prepare)) process.exit();
  const directory = mkdtempSync(join(tmpdir(), "switchyard-test-"));
  running.defer(() => {
    rmSync(directory, { recursive: true });
  });
  process.env["SWITCHYARD_CONTROL_PLANES"] = join(directory, "lender.sock");
  running.use(await lendControlPlanes(process.env["SWITCHYARD_CONTROL_PLANES"]));
}

rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });
const succeeded = paths.length > 0 ? await runPaths() : await runNx();

const totals = sumReports(reports);
const hasTests = totals.passed > 0 || given.includes("--base"); // a change may affect no tests
const isGreen = succeeded && totals.failed === 0 && hasTests;
console.log(closingReport(isGreen || totals.failed > 0 ? totals : { ...totals, failed: 1 }));
process.exitCode = isGreen && !(process.env["CI"] && totals.skipped > 0) ? 0 : 1;

async function runNx(): Promise<boolean> {
  const nx = join(root, "node_modules/.bin/nx");
  const command = given.includes("--base") ? "affected" : "run-many";
  // Three on two processors, because many tests wait for a clock or for a program.
  return run(nx, [command, "-t", "test", "--parallel=3", ...given], root);
}

/** One Jest for each project. */
async function runPaths(): Promise<boolean> {
  const options = given.filter((argument) => argument.startsWith("-"));
  let succeeded = true;
  for (const [project = "", files] of Map.groupBy(paths, projectOf)) {
    const selected = files.flatMap((path) => ["--path", relative(join(root, project), resolve(path))]);
    const args = [join(root, "tools/nx/jest.js"), ...selected, ...options];
    if (!(await run(process.execPath, args, join(root, project)))) succeeded = false;
  }
  return succeeded;
}

async function run(program: string, args: readonly string[], cwd: string): Promise<boolean> {
  const started = spawn(program, args, { cwd, stdio: "inherit" });
  await once(started, "exit");
  return started.exitCode === 0;
}

/** The root of the project that has the file, if `npm test` runs it: "libs/plan". */
function projectOf(path: string): string | undefined {
  const [folder = "", name = ""] = relative(root, resolve(path)).split("/");
  if (folder === "e2e") return ["integration", "src"].includes(name) ? folder : undefined;
  return ["apps", "libs", "tools"].includes(folder) && name !== "" ? `${folder}/${name}` : undefined;
}
