// SPDX-License-Identifier: Apache-2.0
/**
 * startVfKubelet plays the kubelet of a node whose pods get VFs. It gives out what the device plugin offers, and has the driver prepare
 * claims. Like the kubelet, it counts the devices of each resource alone: it gives a VF of a resource to a pod unless another pod
 * has it as a device of the same resource.
 */
import { nodes, pods as podType } from "@switchyard/api";
import { objectPath, watchObjects, type Transport } from "@switchyard/kube";
import type { ClaimedDevice, ClaimRef } from "@switchyard/kubelet";
import type { FakeKubelet } from "@switchyard/kubelet/testing";
import { setTimeout as delay } from "node:timers/promises";
import { removedText, startedText, type PodChange } from "./fake-kubelet.ts";
import type { NodeClaims } from "./node-claims.ts";
import { claimNamesOf, createPodWriter, type PodOnNode } from "./pods-on-node.ts";

export interface VfKubeletOptions {
  readonly transport: Transport;
  readonly node: string;
  /** Answers what programs of the node ask the kubelet. */
  readonly answers: FakeKubelet;
  /** Absent if the node has no driver of claims, and no scheduler that has to know how many VFs the plugin offers. */
  readonly claims?: NodeClaims | undefined;
  /** Called for each pod that runs, waits for its claims or is gone. */
  readonly tell?: ((change: PodChange) => void) | undefined;
}

export interface VfKubelet extends AsyncDisposable {
  /** PCI addresses of the VFs of each pod, by its name; several are separated by commas. */
  readonly vfsOf: ReadonlyMap<string, string>;
  /** PCI addresses that two pods had at once. */
  readonly sharedVfs: ReadonlySet<string>;
  /** PCI addresses of the VFs that the plugin offers, by resource without prefix. */
  readonly offered: ReadonlyMap<string, readonly string[]>;
  /** Replaces what the plugin offers. */
  offer(resources: ReadonlyMap<string, readonly string[]>): Promise<void>;
}

/** What a pod has. */
interface Given {
  readonly pod: PodOnNode;
  readonly vfs: readonly string[];
  /** Full name of the resource, if the VFs are those of the plugin. */
  readonly resource?: string;
  readonly claims: readonly ClaimRef[];
  readonly devices: readonly ClaimedDevice[];
}

const prefix = "openshift.io/";
const retryMs = 500;

/** Time that the containers of a pod with a scheduler need to end. Its replacement is placed meanwhile, as in a real cluster. */
const endMs = 1_000;

export function startVfKubelet({ transport, node, answers, claims, tell }: VfKubeletOptions): VfKubelet {
  const writer = createPodWriter(transport);
  const given = new Map<string, Given>();
  const vfsOf = new Map<string, string>();
  const sharedVfs = new Set<string>();
  let offered: ReadonlyMap<string, readonly string[]> = new Map();
  const ended = new Set<string>();
  const busy = new Set<string>();
  const told = new Map<string, string>();
  const pods = watchObjects({
    transport,
    type: podType,
    fieldSelector: `spec.nodeName=${node}`,
    report: () => undefined,
    project: (pod: PodOnNode) => pod,
  });

  function keep(one: Given): void {
    const { uid, name } = one.pod.metadata;
    const held = new Set([...given.values()].flatMap(({ vfs }) => vfs));
    for (const vf of one.vfs) if (held.has(vf)) sharedVfs.add(vf);
    given.set(uid, one);
    if (one.vfs.length > 0) vfsOf.set(name, one.vfs.join());
    showPods();
  }

  function showPods(): void {
    answers.pods = [...given.values()].map(({ pod: { metadata }, resource, vfs, devices: claimed }) => {
      const devices = resource === undefined ? [] : [{ resourceName: resource, ids: vfs }];
      const containers = [{ name: "app", devices, claimed }];
      return { name: metadata.name, namespace: metadata.namespace, containers };
    });
  }

  /** Gives the pod what it asks for. Returns false if it cannot start now. */
  async function give(pod: PodOnNode): Promise<boolean> {
    if (given.has(pod.metadata.uid)) return true;
    if (claims !== undefined && claimNamesOf(pod).length > 0) {
      const prepared = await claims.prepare(pod);
      if ("error" in prepared) {
        tellOnce(pod, `pod ${pod.metadata.name} waits: ${prepared.error}`);
        return false;
      }
      keep({ pod, ...prepared });
      return true;
    }
    const limits = pod.spec.containers.flatMap(({ resources }) => Object.keys(resources?.limits ?? {}));
    const resource = limits.find((name) => name.startsWith(prefix));
    if (resource === undefined) return true;
    const taken = new Set([...given.values()].flatMap((one) => (one.resource === resource ? one.vfs : [])));
    const vf = (offered.get(resource.slice(prefix.length)) ?? []).find((address) => !taken.has(address));
    if (vf === undefined) return false;
    keep({ pod, vfs: [vf], resource, claims: [], devices: [] });
    return true;
  }

  async function end(pod: PodOnNode): Promise<void> {
    const { uid, name } = pod.metadata;
    if (claims !== undefined) await delay(endMs);
    if (isDisposed) return;
    const error = await claims?.unprepare(given.get(uid)?.claims ?? []);
    if (error !== undefined) {
      tellOnce(pod, `pod ${name} does not end: ${error}`);
      again(pod);
      return;
    }
    ended.add(uid);
    given.delete(uid);
    vfsOf.delete(name);
    showPods();
    await writer.remove(pod);
    tell?.({ node, text: removedText(name) });
  }

  async function start(pod: PodOnNode): Promise<void> {
    const { name, uid } = pod.metadata;
    if (await give(pod)) {
      await writer.start(pod);
      tell?.({ node, text: startedText(name, vfsOf.get(name)) });
    } else if (claims === undefined) {
      return; // until the plugin offers more
    } else if (claimNamesOf(pod).length > 0) {
      again(pod);
    } else {
      ended.add(uid);
      await writer.refuse(pod);
      tell?.({ node, text: `the kubelet has refused pod ${name}: the device plugin has no free VF` });
    }
  }

  async function act(pod: PodOnNode): Promise<void> {
    const { uid, deletionTimestamp } = pod.metadata;
    const { phase = "Pending" } = pod.status;
    const isEnding = deletionTimestamp !== undefined;
    if (busy.has(uid) || (ended.has(uid) && !(isEnding && phase === "Failed"))) return;
    busy.add(uid);
    try {
      if (isEnding) await end(pod);
      else if (phase === "Pending") await start(pod);
    } catch (error) {
      tellOnce(pod, `pod ${pod.metadata.name}: ${String(error)}`);
      again(pod);
    } finally {
      busy.delete(uid);
    }
    const now = pods.list().find(({ metadata }) => metadata.uid === uid);
    if (now !== undefined && now.metadata.deletionTimestamp !== deletionTimestamp) await act(now); // it has changed meanwhile
  }

  const timers = new Set<NodeJS.Timeout>();
  let isDisposed = false;
  function again({ metadata: { uid } }: PodOnNode): void {
    if (isDisposed) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      const pod = pods.list().find(({ metadata }) => metadata.uid === uid);
      if (pod !== undefined) void act(pod);
    }, retryMs);
    timers.add(timer);
  }

  function tellOnce({ metadata: { uid } }: PodOnNode, text: string): void {
    if (told.get(uid) !== text && !isDisposed) tell?.({ node, text });
    told.set(uid, text);
  }

  pods.subscribe(({ after }) => {
    if (after !== undefined) void act(after);
  });
  return {
    vfsOf,
    sharedVfs,
    get offered() {
      return offered;
    },
    async offer(resources) {
      offered = resources;
      answers.offered = [...offered].map(([name, ids]) => ({ resourceName: `${prefix}${name}`, ids }));
      if (claims !== undefined) await reportAllocatable(transport, node, offered);
      for (const pod of pods.list()) void act(pod);
    },
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      for (const timer of timers) clearTimeout(timer);
      await pods[Symbol.asyncDispose]();
      claims?.[Symbol.dispose]();
    },
  };
}

/** Tells the scheduler how many VFs the plugin offers. Rejects with KubeError. */
async function reportAllocatable(
  transport: Transport,
  name: string,
  offered: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const counts = Object.fromEntries([...offered].map(([resource, vfs]) => [`${prefix}${resource}`, `${vfs.length}`]));
  const all = { cpu: "16", memory: "32Gi", pods: "100", ...counts };
  await transport.request({
    method: "PATCH",
    path: objectPath(nodes, { name }, "status"),
    contentType: "application/merge-patch+json",
    body: { status: { capacity: all, allocatable: all } },
  });
}
