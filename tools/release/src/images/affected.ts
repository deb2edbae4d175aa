// SPDX-License-Identifier: Apache-2.0
/** affectedApps lists the apps whose images a change affects: those that Nx finds affected since a commit. */
import { outputOf } from "@switchyard/testing";
import { join } from "node:path";

export interface AffectedOptions {
  /** The commit before the change. Empty, or no commit of this repository (a new branch): all apps are affected. */
  readonly base: string;
  /** Names of all apps that have an image. */
  readonly images: readonly string[];
}

export async function affectedApps(root: string, { base, images }: AffectedOptions): Promise<readonly string[]> {
  if (base === "" || !(await isCommit(root, base))) return images;
  const changed = await outputOf("git", ["diff", "--name-only", base, "HEAD", "--"], { cwd: root });
  if (changed.split("\n").some((file) => concernsAllImages.test(file))) return images;
  const nx = join(root, "node_modules/.bin/nx");
  const args = [
    "show",
    "projects",
    "--affected",
    "--withTarget=build",
    "--projects=apps/*",
    `--base=${base}`,
    "--head=HEAD",
    "--json",
  ];
  const names = JSON.parse(await outputOf(nx, args, { cwd: root, env: { NX_DAEMON: "false" } })) as readonly string[];
  return images.filter((image) => names.includes(`@switchyard/${image}`));
}

/** What builds images is no dependency of an app. */
const concernsAllImages = /^(?:tools\/images\/|Containerfile$|charts\/switchyard\/crds\/)/;

async function isCommit(root: string, revision: string): Promise<boolean> {
  if (!/^[\w./~^-]+$/.test(revision) || revision.startsWith("-")) return false;
  try {
    await outputOf("git", ["cat-file", "-e", `${revision}^{commit}`], { cwd: root });
    return true;
  } catch {
    return false;
  }
}
