// SPDX-License-Identifier: Apache-2.0
/**
 * The way into every command of package.json, from a machine that has nothing but Node >= 20 and npm: installs the
 * packages when they are due, then runs the command on the Node 24 that came with them.
 * Usage: `node tools/run/run.mjs demo -- --keep`. Plain JavaScript, since it must run on the older Node.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const commands = {
  demo: "tools/demo/src/main.ts",
  test: "tools/run/src/test.ts",
  e2e: "tools/run/src/e2e.ts",
  bench: "tools/bench/src/main.ts",
  generate: "tools/generate/src/main.ts",
  "control-plane": "tools/control-plane/src/main.ts",
  vm: "tools/vm-lab/src/main.ts",
};

const root = fileURLToPath(new URL("../..", import.meta.url));
const [command, ...args] = process.argv.slice(2);
const script = commands[command ?? ""];
if (script === undefined) fail(64, `unknown command "${command ?? ""}"; one of: ${Object.keys(commands).join(", ")}`);

installPackages();
const bin = join(root, "node_modules/.bin");
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` };
const node = newestNode();
const result = spawnSync(node, ["--disable-warning=ExperimentalWarning", join(root, script), ...args], {
  cwd: root,
  env,
  stdio: "inherit",
});
process.exit(result.status ?? 128);

/** `npm ci` unless node_modules came from the same manifests. */
function installPackages() {
  const stamp = join(root, "node_modules/.switchyard-install");
  const wanted = manifestsDigest();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  console.error("Installing packages (npm ci); the first time this takes about a minute ...");
  const install = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: "inherit",
  });
  if (install.status !== 0) fail(1, `npm ci failed with status ${install.status ?? "unknown"}`);
  writeFileSync(stamp, wanted);
}

/** The lock file names the packages of all workspaces, so it alone tells. */
function manifestsDigest() {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}

/** The Node that runs this if it is new enough, else the one among the packages. */
function newestNode() {
  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath;
  const packaged = join(bin, "node");
  if (existsSync(packaged)) return packaged;
  fail(
    1,
    `Node 24 or later is needed; this is ${process.version}, and the packages bring none for ${process.platform}-${process.arch}`,
  );
}

function fail(code, message) {
  console.error(`switchyard: ${message}`);
  process.exit(code);
}
