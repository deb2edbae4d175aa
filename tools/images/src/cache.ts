// SPDX-License-Identifier: Apache-2.0
/**
 * The cache of this tool, outside of the checkout. A directory or file in it has the digest of what it was made from in its
 * name, and is complete, because it is made under another name and renamed.
 * Usage: `const directory = await cached("npm", key, async (draft) => { await unpack(archive, draft); });`
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

/** Returns the directory of the cache. */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  return join(env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "switchyard/images");
}

/** Returns the directory `kind`/`key` of the cache. If it does not exist, `make` gets an empty directory that becomes it. */
export async function cached(kind: string, key: string, make: (draft: string) => Promise<void>): Promise<string> {
  const directory = join(cacheDirectory(), kind, key);
  if (existsSync(directory)) return directory;
  await mkdir(join(cacheDirectory(), kind), { recursive: true });
  const draft = await mkdtemp(join(cacheDirectory(), kind, ".making-"));
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

/** Returns a short hash of `words`. */
export function keyOf(...words: readonly string[]): string {
  return createHash("sha256").update(words.join("\0")).digest("hex").slice(0, 16);
}
