// SPDX-License-Identifier: Apache-2.0
/**
 * Manages the cache of built parts: `<cache>/<part>-<key>-<version>/`. A directory with this name is complete, because it
 * is built under another name and renamed. The key covers the files of the build. The version, that of the kernel or of QEMU, is not
 * part of the key, so a part stays valid when Debian publishes a new version; only `build` looks for it.
 */
import { cachePath } from "@switchyard/testing/user-cache";
import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { withFileLock } from "./file-lock.ts";

/** A kernel with its root disk, the same with a kernel of backports, modules that Debian does not build, and a newer QEMU. */
export type Part = "image" | "backports" | "modules" | "qemu";

/** A complete part. */
export interface CachedPart {
  readonly directory: string;
  /** Version of its kernel, or of QEMU. */
  readonly version: string;
}

const building = ".building-";

/** Returns the directory of the cache. It is created at the first build. */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  return cachePath("vm-lab", env);
}

/** Returns a hash of `words` and of the content of `files`; directories include all files in them. */
export async function contentKey(root: string, files: readonly string[], words: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const file of (await Promise.all(files.map((path) => filesAt(join(root, path))))).flat().sort()) {
    const content = await readFile(file);
    hash.update(`${relative(root, file)}\0${content.length}\0`).update(content);
  }
  return hash.update(words.join("\0")).digest("hex").slice(0, 12);
}

/** Returns all complete parts with this key, newest version first. */
export async function listParts(cache: string, part: Part, key: string): Promise<CachedPart[]> {
  const prefix = `${part}-${key}-`;
  const names = (await entries(cache)).filter((name) => name.startsWith(prefix));
  return names
    .map((name) => ({ directory: join(cache, name), version: name.slice(prefix.length) }))
    .sort((a, b) => b.version.localeCompare(a.version, "en", { numeric: true }));
}

/** Calls `build` with an empty directory, which becomes the part when `build` has succeeded. */
export async function populate(
  cache: string,
  { part, key, version }: { readonly part: Part; readonly key: string; readonly version: string },
  build: (directory: string) => Promise<void>,
): Promise<CachedPart> {
  await mkdir(cache, { recursive: true });
  const work = await mkdtemp(join(cache, building));
  try {
    await chmod(work, 0o755); // other users can run an image that root built
    await build(work);
    const directory = join(cache, `${part}-${key}-${version}`);
    await rename(work, directory);
    return { directory, version };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Removes leftovers of killed builds, then runs `act`. Only one build runs on a machine at a time. */
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
    return []; // does not exist yet, or is not readable
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
