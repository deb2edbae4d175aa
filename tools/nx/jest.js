// SPDX-License-Identifier: Apache-2.0
/**
 * Runs Jest for the project in the working directory, for one folder of it, or for single files and folders (--path, as often
 * as needed). A run that hangs is ended: after `limitMs`, or `exitMs` after its report was written, when something that a
 * test left open keeps Jest from ending.
 * Usage: `node ../../tools/nx/jest.js [--folder FOLDER | --path PATH...] [arguments of Jest]`.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { reportName } from "./targets.js";

/** The slowest target takes five minutes on an idle machine with two cores. */
const limitMs = 25 * 60_000;
const exitMs = 30_000;

const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  console.error(`The tests need Node.js 24 or later, not ${process.version}: start them with npm run or npx.`);
  process.exit(1);
}

const workspaceRoot = join(import.meta.dirname, "../..");
const args = process.argv.slice(2);
const folder = args[0] === "--folder" ? args.splice(0, 2)[1] : "";
const paths = [];
while (args[0] === "--path") paths.push(join(process.cwd(), args.splice(0, 2)[1]));
const tests = join(process.cwd(), folder);
const report = join(workspaceRoot, "reports", reportName(relative(workspaceRoot, tests)));
const jest = join(createRequire(import.meta.url).resolve("jest/package.json"), "../bin/jest.js");
const flags = ["--config", configFor(paths[0] ?? tests), "--rootDir", process.cwd()];

mkdirSync(join(workspaceRoot, "reports"), { recursive: true });
rmSync(report, { force: true });
const running = spawn(
  process.execPath,
  // With this flag Jest can require() packages that are published as ES modules only.
  ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning", jest, ...flags]
    .concat(["--passWithNoTests", "--json", "--outputFile", report])
    .concat(folder === "" ? paths : [`${tests}/`])
    .concat(args),
  {
    stdio: ["ignore", "ignore", "inherit"],
    // The programs that tests start compile their TypeScript once: an operator starts in 0.4 s of CPU instead of 1.1.
    env: { ...process.env, NODE_COMPILE_CACHE: join(workspaceRoot, "node_modules/.cache/compiled") },
  },
);
running.once("exit", (status) => process.exit(status ?? 1));

setTimeout(() => {
  endHanging(`The tests in ${tests} did not finish within ${limitMs / 60_000} minutes`);
  process.exit(1);
}, limitMs);
let writtenAt;
setInterval(() => {
  const result = readReport();
  if (result === undefined) return;
  writtenAt ??= Date.now();
  if (Date.now() - writtenAt < exitMs) return;
  endHanging(`Jest did not end within ${exitMs / 1000} s of its report: a test in ${tests} left something open`);
  process.exit(result.success ? 0 : 1);
}, 1_000);

/** The configuration in the first folder below the project, such as e2e/integration, or that of the workspace. */
function configFor(path) {
  const own = join(process.cwd(), relative(process.cwd(), path).split("/")[0] ?? "", "jest.config.js");
  return own !== join(process.cwd(), "jest.config.js") && existsSync(own) ? own : join(workspaceRoot, "jest.config.js");
}

/** Jest's results, or undefined before they are complete. */
function readReport() {
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch {
    return undefined;
  }
}

/** Says what hangs, with the processes that Jest has started, and kills Jest. What the tests started ends with it. */
function endHanging(what) {
  const { stdout } = spawnSync("ps", ["-eo", "pid,ppid,etime,args", "--forest"], { encoding: "utf8" });
  console.error(`${what}. These processes run:\n${stdout}`);
  running.removeAllListeners("exit");
  running.kill("SIGKILL");
}
