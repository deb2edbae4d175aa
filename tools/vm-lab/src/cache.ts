// SPDX-License-Identifier: Apache-2.0
/**
 * The cache of built parts: `<cache>/<part>-<key>-<kernel version>/`. A directory of that name is complete, since it is
 * built beside and renamed. The key covers the build's own files; the kernel version is apart, so that an image stays good
 * when Debian publishes the next point release, and `build` alone asks for it.
 * Usage: `await populate(cache, "image", key, version, async (directory) => { ... })`
 */
import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { withFileLock } from "./file-lock.ts";

/** What is cached: the kernel with its disk, and the modules that Debian leaves out. */
export type Part = "image" | "modules";

/** A complete part. */
export interface CachedPart {
  readonly directory: string;
  readonly kernelVersion: string;
}

const building = ".building-";

/** Where the lab keeps what it builds; made on first use. */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "switchyard/vm-lab");
}

/** A name for the content of `files` and of all files under those that are directories, and for `words`. */
export async function contentKey(root: string, files: readonly string[], words: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const file of (await Promise.all(files.map((path) => filesAt(join(root, path))))).flat().sort()) {
    const content = await readFile(file);
    hash.update(`${relative(root, file)}\0${content.length}\0`).update(content);
  }
  return hash.update(words.join("\0")).digest("hex").slice(0, 12);
}

/** All complete parts of a key, the newest kernel first. */
export async function listParts(cache: string, part: Part, key: string): Promise<CachedPart[]> {
  const prefix = `${part}-${key}-`;
  const names = (await entries(cache)).filter((name) => name.startsWith(prefix));
  return names
    .map((name) => ({ directory: join(cache, name), kernelVersion: name.slice(prefix.length) }))
    .sort((a, b) => b.kernelVersion.localeCompare(a.kernelVersion, "en", { numeric: true }));
}

/** Has `build` fill a new directory, which becomes the part once it is done. */
export async function populate(
  cache: string,
  { part, key, kernelVersion }: { readonly part: Part; readonly key: string; readonly kernelVersion: string },
  build: (directory: string) => Promise<void>,
): Promise<CachedPart> {
  await mkdir(cache, { recursive: true });
  const work = await mkdtemp(join(cache, building));
  try {
    await chmod(work, 0o755); // other users may run what root built
    await build(work);
    const directory = join(cache, `${part}-${key}-${kernelVersion}`);
    await rename(work, directory);
    return { directory, kernelVersion };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Runs `act` alone among the builds on this machine, and first removes what killed ones left. */
export async function withBuildLock<T>(cache: string, onWait: () => void, act: () => Promise<T>): Promise<T> {
  return withFileLock(join(cache, "lock"), onWait, async () => {
    const left = (await entries(cache)).filter((name) => name.startsWith(building));
    await Promise.all(left.map((name) => rm(join(cache, name), { recursive: true, force: true })));
    return act();
  });
}

async function entries(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch {
    return []; // not made yet, or not ours to read: nothing there that can be used
  }
}

async function filesAt(path: string): Promise<string[]> {
  try {
    const items = await readdir(path, { withFileTypes: true, recursive: true });
    return items.filter((item) => item.isFile()).map((item) => join(item.parentPath, item.name));
  } catch {
    return [path]; // a file
  }
}
