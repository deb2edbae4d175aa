// SPDX-License-Identifier: Apache-2.0
/**
 * Nodes come and go; policies make VFs on them, more, fewer and others; nodes are drained for that, where an admin, a
 * pool and a budget have a say.
 */
import {
  conditionTypes,
  drainReasons,
  nodes,
  operatorConfigName,
  sriovNetworkNodePolicies,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  type SriovNetworkNodePolicySpec,
} from "@switchyard/api";
import { isRecord, type KubeObject } from "@switchyard/kube";
import type { Actors } from "./actors.ts";
import { has, ofKind, place, statusOf, type Life } from "./life.ts";
import { podDisruptionBudgets } from "./types.ts";

const workers = ["worker-1", "worker-2"];

const vf = "openshift.io/fast";

const selected = { "node-role.kubernetes.io/worker": "" };

/** Keeps the pod of this name from being evicted. */
const budget = { name: "web", namespace: "default" };

export const lifeOfNodes: Life = {
  name: "nodes",
  flags: ["--stale-node-state-cleanup-delay-minutes", "0"],
  steps: [
    {
      name: "the operator is configured",
      act: (actors) => actors.apply(sriovOperatorConfigs, { metadata: place(operatorConfigName), spec: {} }),
      isDone: (objects) => objects.some(({ kind, ...config }) => kind === "SriovOperatorConfig" && "status" in config),
    },
    {
      name: "nodes appear",
      async act(actors) {
        await Promise.all(workers.map((worker) => actors.nodes.add(worker)));
      },
      isDone: (objects) => ofKind(objects, "SriovNetworkNodeState").filter(isDiscovered).length === workers.length,
    },
    {
      name: "a pool is made",
      act: (actors) => applyPool(actors, 1),
      isDone: (objects) => has(objects, "SriovNetworkPoolConfig workers", "Ready"),
    },
    {
      name: "a policy is made, while an admin has a node cordoned",
      async act(actors) {
        await actors.apply(nodes, { metadata: { name: "worker-2" }, spec: { unschedulable: true } });
        await applyPolicy(actors, "fast", { numVfs: 2 });
      },
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy fast", "Ready"),
    },
    {
      name: "the policy is scaled up, and pods must go",
      async act(actors) {
        await actors.apply(nodes, { metadata: { name: "worker-2" } });
        for (const worker of workers) await actors.startPod({ name: `on-${worker}`, namespace: "default" }, worker, vf);
        await applyPolicy(actors, "fast", { numVfs: 4 });
      },
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy fast", "Ready"),
    },
    {
      name: "a second policy takes the other port of a node",
      async act(actors) {
        await applySlow(actors, { mtu: 9000 });
        await applyPool(actors, 0); // No drain is due here: who hears of this late does nothing else.
      },
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy slow", "Ready"),
    },
    {
      name: "it changes while no node may be drained",
      act: (actors) => applySlow(actors, { numVfs: 3 }),
      isDone: (objects) => drainReasonOf(objects, "worker-1") === drainReasons.heldByPool,
    },
    {
      name: "and is changed back before one may",
      act: (actors) => applySlow(actors, { mtu: 9000 }),
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy slow", "Ready"),
    },
    {
      name: "it changes while a budget keeps a pod",
      async act(actors) {
        await applyPool(actors, 1);
        await actors.apply(podDisruptionBudgets, {
          metadata: budget,
          spec: { minAvailable: 1, selector: { matchLabels: { app: budget.name } } },
        });
        await actors.startPod({ ...budget, labels: { app: budget.name } }, "worker-1", vf);
        await applySlow(actors, { numVfs: 3 });
      },
      isDone: (objects) => drainReasonOf(objects, "worker-1") === drainReasons.evictingPods,
    },
    {
      name: "and the budget goes",
      act: (actors) => actors.delete(podDisruptionBudgets, budget),
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy slow", "Ready"),
    },
    {
      name: "a node leaves",
      act: (actors) => actors.nodes.remove("worker-2"),
      isDone: (objects) => ofKind(objects, "SriovNetworkNodeState").length === workers.length - 1,
    },
    {
      name: "policies are deleted",
      async act(actors) {
        for (const name of ["fast", "slow"]) await actors.delete(sriovNetworkNodePolicies, place(name));
      },
      isDone: (objects) => ofKind(objects, "SriovNetworkNodeState").every(isReset),
    },
    {
      name: "all is deleted",
      async act(actors) {
        await actors.delete(sriovNetworkPoolConfigs, place("workers"));
        await actors.delete(sriovOperatorConfigs, place(operatorConfigName));
        await Promise.all(workers.map((worker) => actors.nodes.remove(worker)));
      },
      isDone: (objects) => ofKind(objects, "SriovNetworkNodeState").length === 0,
    },
  ],
};

async function applyPool(actors: Actors, maxUnavailable: number): Promise<void> {
  const spec = { nodeSelector: { matchLabels: selected }, maxUnavailable };
  await actors.apply(sriovNetworkPoolConfigs, { metadata: place("workers"), spec });
}

/** On all workers' first port unless told. */
async function applyPolicy(actors: Actors, name: string, spec: Partial<SriovNetworkNodePolicySpec>): Promise<void> {
  const nicSelector = { rootDevices: ["0000:3b:00.0"] };
  await actors.apply(sriovNetworkNodePolicies, {
    metadata: place(name),
    spec: { nodeSelector: selected, nicSelector, resourceName: "fast", numVfs: 2, ...spec },
  });
}

/** On one worker's second port. */
async function applySlow(actors: Actors, spec: Partial<SriovNetworkNodePolicySpec>): Promise<void> {
  const nodeSelector = { "kubernetes.io/hostname": "worker-1" };
  const nicSelector = { rootDevices: ["0000:3b:00.1"] };
  await applyPolicy(actors, "slow", { nodeSelector, nicSelector, resourceName: "slow", ...spec });
}

/** Why the node's drain stands where it stands; undefined while none is asked for. */
function drainReasonOf(objects: readonly KubeObject[], node: string): unknown {
  const state = ofKind(objects, "SriovNetworkNodeState").find(({ metadata }) => metadata.name === node);
  const { conditions } = statusOf(state);
  const all: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  return all.filter(isRecord).find(({ type }) => type === conditionTypes.drainProgressing)?.["reason"];
}

function isDiscovered(state: KubeObject): boolean {
  const { interfaces } = statusOf(state);
  return Array.isArray(interfaces) && interfaces.length > 0;
}

function isReset(state: KubeObject): boolean {
  const { interfaces, syncStatus } = statusOf(state);
  const hasNoVfs = (nic: unknown) => isRecord(nic) && (nic["numVfs"] ?? 0) === 0;
  return syncStatus === "Succeeded" && Array.isArray(interfaces) && interfaces.every(hasNoVfs);
}
