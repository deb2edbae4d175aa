// SPDX-License-Identifier: Apache-2.0
/**
 * The user's cache, outside of the checkout, for what takes long to build or to download. A directory in it is complete, because it
 * is made under another name and renamed; its name says what it was made from.
 * Usage: `const directory = await cachedDirectory(join("cni", hash), async (draft) => { await build(draft); })`
 */
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** Returns the path `name` in the cache, which is below XDG_CACHE_HOME or ~/.cache. */
export function cachePath(name: string, env: NodeJS.ProcessEnv = process.env): string {
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "switchyard", name);
}

/** Returns the directory `name` of the cache. If it does not exist, `make` gets an empty directory that becomes it. */
export async function cachedDirectory(name: string, make: (draft: string) => Promise<void>): Promise<string> {
  const directory = cachePath(name);
  if (existsSync(directory)) return directory;
  await mkdir(dirname(directory), { recursive: true });
  const draft = await mkdtemp(join(dirname(directory), ".making-"));
  try {
    await chmod(draft, 0o755);
    await make(draft);
    await rename(draft, directory).catch((error: unknown) => {
      if (!existsSync(directory)) throw error; // otherwise another process has made it meanwhile
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return directory;
}
