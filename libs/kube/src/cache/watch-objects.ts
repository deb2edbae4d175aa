// SPDX-License-Identifier: Apache-2.0
/**
 * watchObjects makes a cache that a reflector keeps in step with the API server.
 * Usage: `await using nodes = watchObjects({ transport, type: nodeType, project: ({ metadata }: Node) => ({ metadata }), report })`.
 */
import type { KubeObject } from "../kube-object.ts";
import type { HasAge } from "./cache-age.ts";
import type { Cache } from "./cache.ts";
import { ObjectStore, type StoreOptions } from "./object-store.ts";
import { reflect, type ReflectorOptions } from "./reflector.ts";

export type WatchOptions<Wire extends KubeObject, T> = StoreOptions<Wire, T> &
  Omit<ReflectorOptions, "sink" | "signal">;

/** Starts the watch. Disposing the cache ends the watch and keeps the content. */
export function watchObjects<Wire extends KubeObject, T>(options: WatchOptions<Wire, T>): Cache<T> & AsyncDisposable {
  const store = new ObjectStore(options);
  const end = new AbortController();
  const ended = reflect({ ...options, sink: store, signal: end.signal });
  return Object.assign(store, {
    async [Symbol.asyncDispose]() {
      end.abort();
      await ended;
    },
  });
}

/** Disposing it ends the watches. The result of watchObjects has this type, too. */
export interface JoinedWatches extends HasAge, AsyncDisposable {
  /** Whether all watches are synced. */
  readonly synced: boolean;
  /** Resolves when all watches are synced; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Calls `listener` for each object that exists and for each change. Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void;
}

/**
 * joinWatches combines several watches that are used together. To add members, use Object.assign: a spread would copy the current
 * value of `synced`.
 */
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
