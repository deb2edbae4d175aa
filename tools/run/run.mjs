// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the commands of package.json on a machine that has only Node.js >= 20 and npm: installs the packages if necessary,
 * then runs the command with the Node.js 24 that is one of the packages. It is plain JavaScript, because older versions of
 * Node.js must be able to run it.
 * Usage: `node tools/run/run.mjs demo -- --keep`
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const commands = {
  demo: "tools/demo/src/main.ts",
  check: "tools/run/src/check.ts",
  test: "tools/run/src/test.ts",
  lint: "tools/run/src/lint.ts",
  e2e: "tools/run/src/e2e.ts",
  bench: "tools/bench/src/main.ts",
  generate: "tools/generate/src/main.ts",
  release: "tools/release/src/main.ts",
  docs: "tools/docs/src/main.ts",
  "control-plane": "tools/control-plane/src/main.ts",
  vm: "tools/vm-lab/src/main.ts",
  images: "tools/images/src/main.ts",
};

const root = fileURLToPath(new URL("../..", import.meta.url));
const [command, ...args] = process.argv.slice(2);
const script = commands[command ?? ""];
if (script === undefined)
  fail(64, `unknown command "${command ?? ""}"; the commands are ${Object.keys(commands).join(", ")}`);

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

/** Runs `npm ci`, unless node_modules was installed from the same package-lock.json. */
function installPackages() {
  const stamp = join(root, "node_modules/.switchyard-install");
  const wanted = manifestsDigest();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  console.error("Installing packages with npm ci; the first time, this takes one to three minutes ...");
  const install = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: root,
    stdio: "inherit",
  });
  if (install.status !== 0) fail(1, `npm ci failed with status ${install.status ?? "unknown"}`);
  writeFileSync(stamp, wanted);
}

/** package-lock.json contains the packages of all workspaces. */
function manifestsDigest() {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}

/** The running Node.js if it is new enough, otherwise the one in the packages. */
function newestNode() {
  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath;
  const packaged = join(bin, "node");
  if (existsSync(packaged)) return packaged;
  fail(
    1,
    `Node.js 24 or later is required. This is ${process.version}, and no package contains Node.js for ` +
      `${process.platform}-${process.arch}: install it from https://nodejs.org, or by Homebrew or nvm`,
  );
}

function fail(code, message) {
  console.error(`switchyard: ${message}`);
  process.exit(code);
}
