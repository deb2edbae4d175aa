// SPDX-License-Identifier: Apache-2.0
/**
 * buildGoPrograms builds Go programs for tests into the user's cache, once for each content of the module's
 * directory. The first build takes about half a minute.
 * Usage: `const bin = await buildGoPrograms({ sources, cacheName: "cni", title: "the CNI plugins" })`.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** The programs of a Go module. */
export interface GoPrograms {
  /** Directory of the module. All its commands are built, and the tools that its go.mod names. */
  readonly sources: string;
  /** Name of the directory in the cache. */
  readonly cacheName: string;
  /** What is built, for the progress message: "the CNI plugins". */
  readonly title: string;
}

/** Returns the directory with the programs. Rejects if Go is missing or a build fails. */
export async function buildGoPrograms({ sources, cacheName, title }: GoPrograms): Promise<string> {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "switchyard", cacheName);
  const built = join(cache, await contentKey(sources));
  if (existsSync(built)) return built;

  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, ".building-"));
  process.stderr.write(`[e2e] building ${title} with Go ...\n`);
  const args = ["build", "-C", sources, "-trimpath", "-ldflags=-s -w", "-o", `${draft}/`, "tool", "./..."];
  try {
    await promisify(execFile)("go", args, { env: { ...process.env, CGO_ENABLED: "0", GOWORK: "off" } });
    await renameUnlessThere(draft, built);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return built;
}

async function contentKey(directory: string): Promise<string> {
  const hash = createHash("sha256");
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.sort()) hash.update(`${file.slice(directory.length)}\0`).update(await readFile(file));
  return hash.digest("hex").slice(0, 12);
}

/** Renames, unless another process has built the same programs meanwhile. */
async function renameUnlessThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}
