// SPDX-License-Identifier: Apache-2.0
/**
 * A cache of a kind that a cluster may lack (ServiceMonitor, Certificate): until it has it, the cache is empty, and
 * nobody waits for it.
 * Usage: `await using monitors = watchIfServed({ transport, type, namespace, project, report });`
 */
import { isKubeError, watchObjects, type Cache, type KubeObject, type WatchOptions } from "@switchyard/kube";

/** Disposing it ends the watch. */
export interface OptionalCache<T> extends AsyncDisposable {
  readonly cache: Cache<T>;
  /** Whether all objects are in, or there is no such kind. */
  readonly synced: boolean;
  /** Resolves when synced; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
}

export function watchIfServed<Wire extends KubeObject, T>(options: WatchOptions<Wire, T>): OptionalCache<T> {
  const notServed = Promise.withResolvers<undefined>();
  let isMissing = false;
  const cache = watchObjects({
    ...options,
    report(error) {
      // There is no other thing that a list or a watch could not find. It is tried again every 15 s.
      if (!isKubeError(error, "NotFound")) {
        options.report(error);
        return;
      }
      isMissing = true;
      notServed.resolve(undefined);
    },
  });
  return {
    cache,
    get synced() {
      return isMissing || cache.synced;
    },
    async whenSynced(signal) {
      await Promise.race([cache.whenSynced(signal), notServed.promise]);
    },
    [Symbol.asyncDispose]: () => cache[Symbol.asyncDispose](),
  };
}
