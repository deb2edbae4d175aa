// SPDX-License-Identifier: Apache-2.0
/**
 * Which pods use VFs, node by node, for warnings that say how many a change disturbs. Of all pods of a cluster those that
 * request no VFs leave nothing behind. No verdict depends on it, so nothing waits for it.
 * Usage: `await using pods = watchPodUsers({ transport, resourcePrefix, after, report }); pods.on("worker-1")`.
 */
import { readPod, type PodFacts } from "@switchyard/admission";
import {
  HeardClock,
  keyOf,
  reflect,
  type Ageing,
  type FailedWatch,
  type KubeObject,
  type ObjectName,
  type ObjectSink,
  type Transport,
} from "@switchyard/kube";

export interface PodUsers extends Pick<Ageing, "ages"> {
  /** Whether all pods are known. */
  readonly synced: boolean;
  /** Those on a node; each is the list of resources that it requests. */
  readonly on: (node: string) => readonly PodFacts[];
}

export interface PodUserOptions {
  readonly transport: Transport;
  /** Before the slash of the resources' names. */
  readonly resourcePrefix: string;
  /** Not begun before: what verdicts depend on comes first, and the two do not need memory at once. */
  readonly after: Promise<unknown>;
  /** Told each failure of the watch; it is taken up again. */
  readonly report: (error: unknown, at: FailedWatch) => void;
}

const pods = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true } as const;

/** Follows from `after` on. */
export function watchPodUsers(options: PodUserOptions): PodUsers & AsyncDisposable {
  const { transport, resourcePrefix, after, report } = options;
  const sink = createPodUsers(resourcePrefix);
  const end = new AbortController();
  const aborted = new Promise((resolve) => {
    end.signal.addEventListener("abort", resolve, { once: true });
  });
  const ended = Promise.race([after, aborted]).then(() =>
    reflect({
      ...{ transport, type: pods, sink, report, signal: end.signal },
      fieldSelector: "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed",
      pageSize: 20, // a pod has kilobytes, which go at once
    }),
  );
  return Object.assign(sink, {
    async [Symbol.asyncDispose]() {
      end.abort();
      await ended;
    },
  });
}

/** What pods leave behind, as the reflector tells of them. */
export function createPodUsers(resourcePrefix: string): PodUsers & ObjectSink {
  const byNode = new Map<string, Map<string, PodFacts>>();
  const nodeOf = new Map<string, string>();
  let listed: Set<string> | undefined;
  let synced = false;
  const lastHeard = new HeardClock();

  function drop(key: string): void {
    const node = nodeOf.get(key);
    if (node === undefined) return;
    nodeOf.delete(key);
    const users = byNode.get(node);
    users?.delete(key);
    if (users?.size === 0) byNode.delete(node);
  }

  function keep(key: string, node: string, resources: PodFacts): void {
    const users = byNode.get(node) ?? new Map<string, PodFacts>();
    byNode.set(node, users.set(key, resources));
    nodeOf.set(key, node);
  }

  return {
    get synced() {
      return synced;
    },
    on: (node) => [...(byNode.get(node)?.values() ?? [])],
    beginList() {
      listed = new Set();
    },
    upsert(object: KubeObject) {
      const key = keyOf(object.metadata);
      const pod = readPod(object, resourcePrefix);
      drop(key);
      if (pod === undefined) return;
      listed?.add(key);
      keep(key, pod.node, pod.resources);
    },
    remove(name: ObjectName) {
      drop(keyOf(name));
    },
    endList() {
      const there = listed;
      listed = undefined;
      synced = true;
      for (const key of [...nodeOf.keys()]) if (there?.has(key) === false) drop(key);
    },
    get ageMs() {
      return lastHeard.ageMs;
    },
    get ages() {
      return [{ resource: pods.plural, synced, ageMs: lastHeard.ageMs }];
    },
    heard() {
      lastHeard.heard();
    },
    advance: () => undefined,
    notServed: () => undefined, // pods always are
  };
}
