// SPDX-License-Identifier: Apache-2.0
/** Lists the files of the workspace that people write: no packages, build results, reports or hidden folders. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Folders that tools write. `.github` is written by hand. */
const skipped = new Set(["node_modules", "dist", "reports"]);

const root = join(import.meta.dirname, "../../..");

/** Paths relative to the workspace, with "/", sorted, of files whose names have one of these endings. */
export function workspaceFiles(endings: readonly string[]): readonly string[] {
  return list("").filter((path) => endings.some((ending) => path.endsWith(ending)));
}

/** The text of a file of the workspace. */
export function readWorkspaceFile(path: string): string {
  return readFileSync(workspacePath(path), "utf8");
}

/** Where a path of the workspace is on this machine. */
export function workspacePath(path: string): string {
  return join(root, path);
}

function list(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !skipped.has(name) && (!name.startsWith(".") || name === ".github"))
    .map((entry) => ({ path: folder === "" ? entry.name : `${folder}/${entry.name}`, isFolder: entry.isDirectory() }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .flatMap(({ path, isFolder }) => (isFolder ? list(path) : [path]));
}
