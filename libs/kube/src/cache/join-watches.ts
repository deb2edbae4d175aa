// SPDX-License-Identifier: Apache-2.0
/**
 * Several watches that are of use together only.
 * Usage: `return Object.assign(joinWatches([roles, bindings]), { ownerOf });`, as a spread would freeze `synced`.
 */

import type { Ageing } from "./cache-age.ts";

/** Disposing it ends the watches. A cache that follows the API server is one, too. */
export interface JoinedWatches extends Ageing, AsyncDisposable {
  /** Whether all are. */
  readonly synced: boolean;
  /** Resolves when all are; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Calls `listener` on each change of any, beginning with what is here already. The answer ends it. */
  subscribe(listener: () => void): () => void;
}

export function joinWatches(watches: readonly JoinedWatches[]): JoinedWatches {
  return {
    get synced() {
      return watches.every(({ synced }) => synced);
    },
    get ageMs() {
      return Math.max(0, ...watches.map(({ ageMs }) => ageMs));
    },
    get ages() {
      return watches.flatMap(({ ages }) => ages);
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
