// SPDX-License-Identifier: Apache-2.0
/**
 * Runs Jest for the project in the working directory, or for one folder of it.
 * Usage: `node ../../tools/nx/jest.js [--folder FOLDER] [arguments of Jest]`.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { reportName } from "./targets.js";

const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  console.error(`The tests need Node.js 24 or later, not ${process.version}: start them with npm run or npx.`);
  process.exit(1);
}

const workspaceRoot = join(import.meta.dirname, "../..");
const args = process.argv.slice(2);
const folder = args[0] === "--folder" ? args.splice(0, 2)[1] : "";
const tests = join(process.cwd(), folder);
const report = join(workspaceRoot, "reports", reportName(relative(workspaceRoot, tests)));
const jest = join(createRequire(import.meta.url).resolve("jest/package.json"), "../bin/jest.js");
const flags = ["--config", join(workspaceRoot, "jest.config.js"), "--rootDir", process.cwd()];

mkdirSync(join(workspaceRoot, "reports"), { recursive: true });
const result = spawnSync(
  process.execPath,
  // With this flag Jest can require() packages that are published as ES modules only.
  ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning", jest, ...flags]
    .concat(["--passWithNoTests", "--json", "--outputFile", report])
    .concat(folder === "" ? [] : [`${tests}/`])
    .concat(args),
  { stdio: ["ignore", "ignore", "inherit"] },
);
process.exit(result.status ?? 1);
