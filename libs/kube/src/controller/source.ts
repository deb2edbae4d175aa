// SPDX-License-Identifier: Apache-2.0
/**
 * Where a controller's keys come from.
 * Usage: `fromCache(policies, () => nodes.keys())`: any policy that changes concerns every node.
 */
import type { Cache, Change } from "../cache/cache.ts";

export interface Source {
  /** Calls `enqueue` for each key that exists, and for each that changes from then on. The answer ends it. */
  start(enqueue: (key: string) => void): () => void;
  /** Resolves when what existed at the start is known; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
}

/** The keys that each change in a cache concerns. */
export function fromCache<T>(cache: Cache<T>, keysOf: (change: Change<T>) => Iterable<string>): Source {
  return {
    start: (enqueue) =>
      cache.subscribe((change) => {
        for (const key of keysOf(change)) enqueue(key);
      }),
    whenSynced: (signal) => cache.whenSynced(signal),
  };
}
