// SPDX-License-Identifier: Apache-2.0
/**
 * The part of the user's cache that this tool uses. A directory in it has the digest of what it was made from in its name.
 */
import { cachedDirectory, cachePath } from "@switchyard/testing/user-cache";
import { createHash } from "node:crypto";
import { join } from "node:path";

const name = "images";

/** Returns the directory of the cache. */
export function cacheDirectory(): string {
  return cachePath(name);
}

/** Returns the directory `kind`/`key` of the cache. If it does not exist, `make` gets an empty directory that becomes it. */
export function cached(kind: string, key: string, make: (draft: string) => Promise<void>): Promise<string> {
  return cachedDirectory(join(name, kind, key), make);
}

/** Returns a short hash of `words`. */
export function keyOf(...words: readonly string[]): string {
  return createHash("sha256").update(words.join("\0")).digest("hex").slice(0, 16);
}
