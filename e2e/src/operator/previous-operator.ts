// SPDX-License-Identifier: Apache-2.0
/**
 * Builds the previous version of the operator, for tests in which two versions run: the newest release before HEAD, or a
 * fixed commit while there is no release. It is built from the repository's history with the installed packages, once for
 * each commit, in the user's cache.
 */
import { findWorkspaceRoot } from "@switchyard/testing";
import { cachedDirectory } from "@switchyard/testing/user-cache";
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** The version while there is no release: the last commit in which a PF was reset when the spec did not contain it. */
const firstVersion = "daf8e7116e94726c643ac0c2229176623a5f9196";

/** The commit of the previous version; undefined in a repository without its history, such as a shallow clone. */
export function findPreviousVersion(): string | undefined {
  const root = findWorkspaceRoot();
  const release = git(root, "describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^");
  const names = [release, firstVersion].filter((name) => name !== undefined);
  return names.flatMap((name) => git(root, "rev-parse", "--verify", "--quiet", `${name}^{commit}`) ?? [])[0];
}

/** Builds the operator of the commit and returns the path of the program. */
export async function bundlePreviousOperator(commit: string): Promise<string> {
  const name = join("operator", commit.slice(0, 12));
  return join(await cachedDirectory(name, (draft) => build(findWorkspaceRoot(), commit, draft)), "main.js");
}

async function build(root: string, commit: string, to: string): Promise<void> {
  const tree = await mkdtemp(join(tmpdir(), "switchyard-operator-"));
  try {
    const archive = join(tree, "sources.tar");
    const parts = ["apps", "libs", "tools", "package.json", "tsconfig.base.json"];
    await run("git", ["-C", root, "archive", "--output", archive, commit, ...parts]);
    await run("tar", ["-xf", archive, "-C", tree]);
    await linkPackages(root, tree);
    await run(process.execPath, [join(tree, "tools/nx/bundle.js")], { cwd: join(tree, "apps/operator") });
    const output = join(tree, "dist/apps/operator");
    await cp(output, to, { recursive: true });
    await writeFile(join(to, "package.json"), JSON.stringify({ type: "module" }));
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

/** Links the installed packages; the workspace's own packages are those of the tree. */
async function linkPackages(root: string, tree: string): Promise<void> {
  const modules = join(tree, "node_modules");
  const own = "@switchyard";
  await mkdir(join(modules, own), { recursive: true });
  for (const name of await readdir(join(root, "node_modules"))) {
    if (name !== own) await symlink(join(root, "node_modules", name), join(modules, name));
  }
  for (const folder of ["apps", "libs", "tools"]) {
    for (const entry of await readdir(join(tree, folder))) {
      const manifest = join(tree, folder, entry, "package.json");
      if (!existsSync(manifest)) continue;
      const { name } = JSON.parse(await readFile(manifest, "utf8")) as { name: string };
      if (name.startsWith(`${own}/`)) await symlink(dirname(manifest), join(modules, name));
    }
  }
}

async function run(file: string, args: readonly string[], options: { readonly cwd?: string } = {}): Promise<void> {
  await promisify(execFile)(file, args, options);
}

/** The stdout of the command; undefined if it fails. */
function git(root: string, ...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("git", ["-C", root, ...args], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}
