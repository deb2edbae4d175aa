// SPDX-License-Identifier: Apache-2.0
/**
 * The pods of the nodes that are being drained, and of no others: one watch for each such node.
 * Usage: `const pods = nodePods.follow("worker-1"); if (pods !== undefined) select(pods); … nodePods.leave("worker-1");`
 */
import {
  listPages,
  systemClock,
  watchObjects,
  whenFresh,
  type Cache,
  type CacheAge,
  type Clock,
  type FailedWatch,
  type Source,
  type Transport,
} from "@switchyard/kube";
import { isPod, pods, toPodFacts, type Pod, type PodFacts } from "./pod-facts.ts";

export interface NodePods extends AsyncDisposable {
  /**
   * The node's pods as far as heard; undefined until all are, and while that is older than `maxAgeMs`. The first call
   * begins to follow them.
   */
  follow(node: string): readonly PodFacts[] | undefined;
  /** The node's pods as they are right now. Rejects with KubeError. */
  list(node: string, signal: AbortSignal): Promise<readonly PodFacts[]>;
  leave(node: string): void;
  /** Names of followed nodes whose pods change, or are known again. */
  readonly source: Source;
  /** Of each node that is followed. */
  readonly ages: readonly CacheAge[];
}

export interface NodePodsOptions {
  readonly transport: Transport;
  /** Before the slash of resources' names. */
  readonly resourcePrefix: string;
  /** Beyond this age nobody knows a node's pods. */
  readonly maxAgeMs: number;
  /** Told each failure of a watch; it is taken up again. */
  readonly report: (error: unknown, at: FailedWatch) => void;
  readonly clock?: Clock;
}

export function followNodePods(options: NodePodsOptions): NodePods {
  const { transport, resourcePrefix, maxAgeMs, report, clock = systemClock } = options;
  const followed = new Map<string, Followed>();
  const listeners = new Set<(node: string) => void>();
  const project = (pod: Pod): PodFacts => toPodFacts(pod, resourcePrefix);
  const selector = (node: string) => ({ type: pods, fieldSelector: `spec.nodeName=${node}` });

  function begin(node: string): Followed {
    const end = new AbortController();
    const cache = watchObjects({ transport, ...selector(node), project, report, clock: options.clock });
    const wake = (): void => {
      if (!end.signal.aborted) for (const listener of listeners) listener(node);
    };
    cache.subscribe(wake);
    cache.whenSynced(end.signal).then(wake, () => undefined); // Nothing else tells of a node without pods.
    const started: Followed = { cache, end, wake, isWaiting: false };
    followed.set(node, started);
    return started;
  }

  /** Nothing else tells that pods are known again which have not changed. */
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
      const found: PodFacts[] = [];
      for await (const { items } of listPages(transport, { ...selector(node), signal })) {
        found.push(...items.filter(isPod).map(project));
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
      whenSynced: () => Promise.resolve(), // There is nothing to wait for: nobody is followed at the start.
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
  readonly cache: Cache<PodFacts> & AsyncDisposable;
  readonly end: AbortController;
  readonly wake: () => void;
  /** Somebody asked while it was stale. */
  isWaiting: boolean;
}
