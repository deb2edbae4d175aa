// SPDX-License-Identifier: Apache-2.0
/**
 * Source provides the keys of a controller, and fromCache makes a source from a cache.
 * Usage: `fromCache(policies, () => nodes.keys())`, to reconcile every node when a policy changes.
 */
import type { Cache, Change } from "../cache/cache.ts";

export interface Source {
  /** Calls `enqueue` for each existing key and for each changed key. Returns a function that ends this. */
  start(enqueue: (key: string) => void): () => void;
  /** Resolves when the source has passed all existing keys; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
}

/** Returns a source of the keys that `keysOf` returns for each change of the cache. */
export function fromCache<T>(
  cache: Pick<Cache<T>, "subscribe" | "whenSynced">,
  keysOf: (change: Change<T>) => Iterable<string>,
): Source {
  return {
    start: (enqueue) =>
      cache.subscribe((change) => {
        for (const key of keysOf(change)) enqueue(key);
      }),
    whenSynced: (signal) => cache.whenSynced(signal),
  };
}
