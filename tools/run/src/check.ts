// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run check` checks a change before its commit: types, lint, format, imports and unused code, two at a time, then the
 * tests of the projects that the change affects. `-- --base COMMIT` says what the change is compared with; the default is
 * where the branch has left main. Uncommitted changes count.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";

const root = join(import.meta.dirname, "../../..");
/** A change of these changes the format of all files. */
const formatRules = [".prettierrc.json", ".prettierignore", "package-lock.json"];
const bin = (name: string) => join(root, "node_modules/.bin", name);

const { values } = parseArgs({ options: { base: { type: "string" }, help: { type: "boolean", default: false } } });
if (values.help) {
  console.log("usage: npm run check [-- --base COMMIT]");
  process.exit();
}
const base =
  values.base === undefined ? mergeBase() : git("rev-parse", "--verify", "--quiet", `${values.base}^{commit}`);
if (base === undefined) {
  console.error(`npm run check: ${values.base ?? "main and origin/main"} not found; name a commit with --base`);
  process.exit(64);
}

const failed: string[] = [];
await Promise.all([
  inOrder([{ name: "lint", command: [process.execPath, join(root, "tools/run/src/lint.ts")] }]),
  inOrder([
    { name: "format", command: formatCommand(base) },
    { name: "imports", command: ["npm", "run", "--silent", "lint:cycles"] },
    { name: "unused code", command: ["npm", "run", "--silent", "lint:unused"] },
    { name: "types", command: ["npm", "run", "--silent", "typecheck"] },
  ]),
]);
if (failed.length > 0) {
  console.log(`failed: ${failed.join(", ")}. The tests did not run.`);
  process.exit(1);
}
const tests = spawnSync(process.execPath, [join(root, "tools/run/src/test.ts"), "--base", base], {
  cwd: root,
  env: { ...process.env, NX_DAEMON: "false" },
  stdio: "inherit",
});
process.exitCode = tests.status ?? 1;

interface Step {
  readonly name: string;
  readonly command: readonly string[];
}

/** Runs one step after the other, and prints the output of those that fail. */
async function inOrder(steps: readonly Step[]): Promise<void> {
  for (const { name, command } of steps) {
    const [program = "", ...args] = command;
    const startMs = performance.now();
    const child = spawn(program, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise<number | null>((resolve, reject) => child.once("close", resolve).once("error", reject));
    const [output, errors, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    const after = `after ${Math.round((performance.now() - startMs) / 1_000)} s`;
    console.log(status === 0 ? `=== ${name}: ok ${after}` : `${output}${errors}=== ${name}: FAILED ${after}`);
    if (status !== 0) failed.push(name);
  }
}

/** Prettier for the files that were changed, or for all if its rules were. */
function formatCommand(base: string): readonly string[] {
  const lists = [
    git("diff", "--name-only", "--diff-filter=d", base),
    git("ls-files", "--others", "--exclude-standard"),
  ];
  const changed = lists.flatMap((list) => list?.split("\n") ?? []).filter((file) => existsSync(join(root, file)));
  const files = changed.some((file) => formatRules.includes(file)) ? ["."] : changed;
  // Without any file, Prettier would fail.
  return [bin("prettier"), "--check", "--ignore-unknown", ...(files.length > 0 ? files : ["package.json"])];
}

/** Where the branch has left main; undefined if there is no main. */
function mergeBase(): string | undefined {
  return git("merge-base", "HEAD", "main") ?? git("merge-base", "HEAD", "origin/main");
}

/** What git prints, or undefined if it fails. */
function git(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}
