// SPDX-License-Identifier: Apache-2.0
/**
 * Which pods use VFs, node by node, for warnings that say how many a change disrupts. Of all pods of a cluster those that
 * name no devices leave nothing behind. No verdict depends on it, so nothing waits for it.
 * Usage: `await using pods = watchPodUsers({ transport, resourcePrefix, states, after, report }); pods.on("worker-1")`.
 */
import { readPod, type PodOnNode, type StateFacts } from "@switchyard/admission";
import { resourceClaims, resourceSlices } from "@switchyard/api";
import {
  HeardClock,
  keyOf,
  reflect,
  type Ageing,
  type Cache,
  type FailedWatch,
  type KubeObject,
  type ObjectName,
  type ObjectSink,
  type Transport,
} from "@switchyard/kube";
import type { PodUse } from "@switchyard/policy";
import { createDeviceClaims } from "./device-claims.ts";

export interface PodUsers extends Pick<Ageing, "ages"> {
  /** Whether all pods are known, and what they have been allocated. */
  readonly synced: boolean;
  /** What each pod on a node uses, of those that name devices. */
  readonly on: (node: string) => readonly PodUse[];
}

export interface PodUserOptions {
  readonly transport: Transport;
  /** Prefix of resource names, the part before the slash. */
  readonly resourcePrefix: string;
  /** Node states, which say whose VFs are at which addresses. */
  readonly states: Pick<Cache<StateFacts>, "get">;
  /** Not begun before: what verdicts depend on comes first, and the two do not need memory at once. */
  readonly after: Promise<unknown>;
  /** Told each failure of a watch; it is taken up again. */
  readonly report: (error: unknown, at: FailedWatch) => void;
}

const pods = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true } as const;

/** Follows from `after` on. */
export function watchPodUsers(options: PodUserOptions): PodUsers & AsyncDisposable {
  const { transport, resourcePrefix, states, after, report } = options;
  const { claims, slices, useOf } = createDeviceClaims(states);
  const sink = createPodUsers(resourcePrefix, useOf);
  const end = new AbortController();
  const aborted = new Promise((resolve) => {
    end.signal.addEventListener("abort", resolve, { once: true });
  });
  const common = { transport, report, signal: end.signal };
  const selected = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed";
  const ended = Promise.race([after, aborted]).then(() =>
    Promise.all([
      reflect({ ...common, type: pods, sink, fieldSelector: selected, pageSize: 20 }), // a pod has kilobytes, which go at once
      reflect({ ...common, type: resourceClaims, sink: claims, optional: true, pageSize: 100 }),
      reflect({ ...common, type: resourceSlices, sink: slices, optional: true, pageSize: 20 }), // up to 128 devices each
    ]),
  );
  return {
    get synced() {
      return sink.synced && claims.synced && slices.synced;
    },
    get ages() {
      return [sink, claims, slices].flatMap(({ ages }) => ages);
    },
    on: sink.on,
    async [Symbol.asyncDispose]() {
      end.abort();
      await ended;
    },
  };
}

/** What pods leave behind, as the reflector tells of them. */
export function createPodUsers(resourcePrefix: string, useOf: (pod: PodOnNode) => PodUse): PodUsers & ObjectSink {
  const byNode = new Map<string, Map<string, PodOnNode>>();
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

  function keep(key: string, pod: PodOnNode): void {
    const users = byNode.get(pod.node) ?? new Map<string, PodOnNode>();
    byNode.set(pod.node, users.set(key, pod));
    nodeOf.set(key, pod.node);
  }

  return {
    get synced() {
      return synced;
    },
    on: (node) => Array.from(byNode.get(node)?.values() ?? [], useOf),
    beginList() {
      listed = new Set();
    },
    upsert(object: KubeObject) {
      const key = keyOf(object.metadata);
      const pod = readPod(object, resourcePrefix);
      drop(key);
      if (pod === undefined) return;
      listed?.add(key);
      keep(key, pod);
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
