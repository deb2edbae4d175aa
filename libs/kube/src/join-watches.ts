// SPDX-License-Identifier: Apache-2.0
/**
 * Several watches that are of use together only.
 * Usage: `return Object.assign(joinWatches([roles, bindings]), { ownerOf });`, as a spread would freeze `synced`.
 */
import type { Cache } from "./cache.ts";

/** Disposing it ends the watches. */
export interface JoinedWatches extends AsyncDisposable {
  /** Whether all are. */
  readonly synced: boolean;
  /** Resolves when all are; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Calls `listener` on each change of any, beginning with what is here already. The answer ends it. */
  subscribe(listener: () => void): () => void;
}

/** What is joined: a cache that follows the API server, or watches that are joined already. */
export type Watch = Pick<Cache<unknown>, "synced" | "whenSynced"> & {
  subscribe(listener: () => void): () => void;
} & AsyncDisposable;

export function joinWatches(watches: readonly Watch[]): JoinedWatches {
  return {
    get synced() {
      return watches.every(({ synced }) => synced);
    },
    async whenSynced(signal) {
      await Promise.all(watches.map((watch) => watch.whenSynced(signal)));
    },
    subscribe(listener) {
      const ends = watches.map((watch) => watch.subscribe(listener));
      return () => {
        for (const end of ends) end();
      };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(watches.map((watch) => watch[Symbol.asyncDispose]()));
    },
  };
}
