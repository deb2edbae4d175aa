// SPDX-License-Identifier: Apache-2.0
/**
 * PodUsers knows which pods on each node use VFs, for warnings that say how many pods a change disrupts. It keeps nothing of
 * pods that name no devices. No decision depends on it, so readiness does not wait for it.
 */
import { readPod, type PodOnNode, type ReducedNodeState } from "@switchyard/admission";
import { pods, resourceClaims, resourceSlices } from "@switchyard/api";
import {
  FreshnessClock,
  keyOf,
  reflect,
  type HasAge,
  type Cache,
  type FailedWatch,
  type KubeObject,
  type ObjectName,
  type ObjectSink,
  type Transport,
} from "@switchyard/kube";
import type { PodUse } from "@switchyard/policy";
import { createDeviceClaims } from "./device-claims.ts";

export interface PodUsers extends Pick<HasAge, "ages"> {
  /** Whether all pods and their allocated devices are known. */
  readonly synced: boolean;
  /** Whether the API server is known not to serve ResourceClaims. */
  readonly lacksClaims?: boolean;
  /** The devices that each pod on the node uses, for pods that name devices. */
  readonly on: (node: string) => readonly PodUse[];
}

export interface PodUserOptions {
  readonly transport: Transport;
  /** Prefix of resource names, the part before the slash. */
  readonly resourcePrefix: string;
  /** Node states. They map the PCI addresses of VFs to PFs. */
  readonly states: Pick<Cache<ReducedNodeState>, "get">;
  /** The watches start afterwards. Caches that decisions depend on sync first, and the peaks of memory do not add up. */
  readonly after: Promise<unknown>;
  /** Called for each failure of a watch. The watch is retried. */
  readonly report: (error: unknown, at: FailedWatch) => void;
}

/** Starts watching once `after` settles. */
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
  const done = Promise.race([after, aborted]).then(() =>
    Promise.all([
      reflect({ ...common, type: pods, sink, fieldSelector: selected, pageSize: 20 }), // a Pod has kilobytes, which are dropped at once
      reflect({ ...common, type: resourceClaims, sink: claims, optional: true, pageSize: 100 }),
      reflect({ ...common, type: resourceSlices, sink: slices, optional: true, pageSize: 20 }), // up to 128 devices each
    ]),
  );
  return {
    get synced() {
      return sink.synced && claims.synced && slices.synced;
    },
    get lacksClaims() {
      return claims.synced && !claims.served;
    },
    get ages() {
      return [sink, claims, slices].flatMap(({ ages }) => ages);
    },
    on: sink.on,
    async [Symbol.asyncDispose]() {
      end.abort();
      await done;
    },
  };
}

/** A sink for a reflector of pods. It keeps the devices of each pod by node. */
export function createPodUsers(resourcePrefix: string, useOf: (pod: PodOnNode) => PodUse): PodUsers & ObjectSink {
  const byNode = new Map<string, Map<string, PodOnNode>>();
  const nodeOf = new Map<string, string>();
  let listed: Set<string> | undefined;
  let synced = false;
  const lastConfirmed = new FreshnessClock();

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
      const present = listed;
      listed = undefined;
      synced = true;
      for (const key of [...nodeOf.keys()]) if (present?.has(key) === false) drop(key);
    },
    get ageMs() {
      return lastConfirmed.ageMs;
    },
    get ages() {
      return [{ resource: pods.plural, synced, ageMs: lastConfirmed.ageMs }];
    },
    confirmed() {
      lastConfirmed.confirmed();
    },
    advance: () => undefined,
    rewind: () => undefined, // it remembers no versions
    onDoubt: () => () => undefined, // nothing writes pods
    notServed: () => undefined, // the API server always serves pods
  };
}
