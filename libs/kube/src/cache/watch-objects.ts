// SPDX-License-Identifier: Apache-2.0
/**
 * watchObjects makes a cache that a reflector keeps in step with the API server.
 * Usage: `await using nodes = watchObjects({ transport, type: nodeType, project: ({ metadata }: Node) => ({ metadata }), report })`.
 */
import type { Cache } from "./cache.ts";
import type { KubeObject } from "../kube-object.ts";
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
