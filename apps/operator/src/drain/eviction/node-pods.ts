// SPDX-License-Identifier: Apache-2.0
/** NodePods watches the pods of the nodes that are being drained, with one watch for each such node. */
import { pods } from "@switchyard/api";
import {
  listPages,
  systemClock,
  watchObjects,
  whenFresh,
  type Cache,
  type CacheAge,
  type Clock,
  type FailedWatch,
  type KubeObject,
  type Source,
  type Transport,
} from "@switchyard/kube";
import { toDrainedPod, type DrainedPod } from "@switchyard/policy";

export interface NodePods extends AsyncDisposable {
  /**
   * Returns the cached pods of the node; undefined until they are listed, and while the cache is older than `maxAgeMs`.
   * The first call starts the watch.
   */
  follow(node: string): readonly DrainedPod[] | undefined;
  /** Lists the pods of the node from the API server. Rejects with KubeError. */
  list(node: string, signal: AbortSignal): Promise<readonly DrainedPod[]>;
  /** Stops the watch. */
  leave(node: string): void;
  /** Enqueues the names of watched nodes whose pods change, or whose cache is fresh again. */
  readonly source: Source;
  /** Ages of the caches of all watched nodes. */
  readonly ages: readonly CacheAge[];
}

export interface NodePodsOptions {
  readonly transport: Transport;
  /** Prefix of resource names, the part before the slash. */
  readonly resourcePrefix: string;
  /** Age beyond which a cache is not used. */
  readonly maxAgeMs: number;
  /** Called for each failure of a watch, which is then retried. */
  readonly report: (error: unknown, at: FailedWatch) => void;
  readonly clock?: Clock;
}

export function followNodePods(options: NodePodsOptions): NodePods {
  const { transport, resourcePrefix, maxAgeMs, report, clock = systemClock } = options;
  const followed = new Map<string, Followed>();
  const listeners = new Set<(node: string) => void>();
  const project = (pod: KubeObject): DrainedPod => toDrainedPod(pod, resourcePrefix);
  const selector = (node: string) => ({ type: pods, fieldSelector: `spec.nodeName=${node}` });

  function begin(node: string): Followed {
    const end = new AbortController();
    const cache = watchObjects({ transport, ...selector(node), project, report, clock: options.clock });
    const wake = (): void => {
      if (!end.signal.aborted) for (const listener of listeners) listener(node);
    };
    cache.subscribe(wake);
    cache.whenSynced(end.signal).then(wake, () => undefined); // a node without pods causes no event
    const started: Followed = { cache, end, wake, isWaiting: false };
    followed.set(node, started);
    return started;
  }

  /** A cache that becomes fresh again without changes causes no event. */
  function wakeWhenFresh(pods: Followed): void {
    if (pods.isWaiting) return;
    pods.isWaiting = true;
    whenFresh([pods.cache], { maxAgeMs, clock, signal: pods.end.signal }).then(
      () => {
        pods.isWaiting = false;
        pods.wake();
      },
      () => undefined,
    );
  }

  async function stop(node: string): Promise<void> {
    const found = followed.get(node);
    followed.delete(node);
    found?.end.abort();
    await found?.cache[Symbol.asyncDispose]();
  }

  return {
    follow(node) {
      const found = followed.get(node) ?? begin(node);
      if (!found.cache.synced) return undefined;
      if (found.cache.ageMs <= maxAgeMs) return found.cache.list();
      wakeWhenFresh(found);
      return undefined;
    },

    async list(node, signal) {
      const found: DrainedPod[] = [];
      for await (const { items } of listPages(transport, { ...selector(node), signal })) {
        found.push(...items.map(project));
      }
      return found;
    },

    leave(node) {
      void stop(node);
    },

    source: {
      start(enqueue) {
        listeners.add(enqueue);
        return () => listeners.delete(enqueue);
      },
      whenSynced: () => Promise.resolve(), // no node is watched at the start
    },

    get ages() {
      return Array.from(followed.values(), ({ cache }) => cache.ages).flat();
    },

    async [Symbol.asyncDispose]() {
      await Promise.all(Array.from(followed.keys(), stop));
    },
  };
}

interface Followed {
  readonly cache: Cache<DrainedPod> & AsyncDisposable;
  readonly end: AbortController;
  readonly wake: () => void;
  /** Whether the node is enqueued when the cache is fresh again. */
  isWaiting: boolean;
}
