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
import type { ClusterUsers } from "./cluster-users.ts";
import { has, ofKind, place, statusOf, type Scenario } from "./scenario.ts";
import { podDisruptionBudgets } from "./types.ts";

const workers = ["worker-1", "worker-2"];

const vf = "openshift.io/fast";

const selected = { "node-role.kubernetes.io/worker": "" };

/** Keeps the pod of this name from being evicted. */
const budget = { name: "web", namespace: "default" };

export const nodeScenario: Scenario = {
  name: "nodes",
  flags: ["--stale-node-state-cleanup-delay-minutes", "0"],
  steps: [
    {
      name: "the operator is configured",
      act: (users) => users.apply(sriovOperatorConfigs, { metadata: place(operatorConfigName), spec: {} }),
      isDone: (objects) => objects.some(({ kind, ...config }) => kind === "SriovOperatorConfig" && "status" in config),
    },
    {
      name: "nodes appear",
      async act(users) {
        await Promise.all(workers.map((worker) => users.nodes.add(worker)));
      },
      isDone: (objects) => ofKind(objects, "SriovNetworkNodeState").filter(isDiscovered).length === workers.length,
    },
    {
      name: "a pool is made",
      act: (users) => applyPool(users, 1),
      isDone: (objects) => has(objects, "SriovNetworkPoolConfig workers", "Ready"),
    },
    {
      name: "a policy is made, while an admin has a node cordoned",
      async act(users) {
        await users.apply(nodes, { metadata: { name: "worker-2" }, spec: { unschedulable: true } });
        await applyPolicy(users, "fast", { numVfs: 2 });
      },
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy fast", "Ready"),
    },
    {
      name: "the policy is scaled up, and pods must go",
      async act(users) {
        await users.apply(nodes, { metadata: { name: "worker-2" } });
        for (const worker of workers) await users.startPod({ name: `on-${worker}`, namespace: "default" }, worker, vf);
        await applyPolicy(users, "fast", { numVfs: 4 });
      },
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy fast", "Ready"),
    },
    {
      name: "a second policy takes the other port of a node",
      async act(users) {
        await applySlow(users, { mtu: 9000 });
        await applyPool(users, 0); // No drain is due here: who hears of this late does nothing else.
      },
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy slow", "Ready"),
    },
    {
      name: "it changes while no node may be drained",
      act: (users) => applySlow(users, { numVfs: 3 }),
      isDone: (objects) => drainReasonOf(objects, "worker-1") === drainReasons.heldByPool,
    },
    {
      name: "and is changed back before one may",
      act: (users) => applySlow(users, { mtu: 9000 }),
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy slow", "Ready"),
    },
    {
      name: "it changes while a budget keeps a pod",
      async act(users) {
        await applyPool(users, 1);
        await users.apply(podDisruptionBudgets, {
          metadata: budget,
          spec: { minAvailable: 1, selector: { matchLabels: { app: budget.name } } },
        });
        await users.startPod({ ...budget, labels: { app: budget.name } }, "worker-1", vf);
        await applySlow(users, { numVfs: 3 });
      },
      isDone: (objects) => drainReasonOf(objects, "worker-1") === drainReasons.evictingPods,
    },
    {
      name: "and the budget goes",
      act: (users) => users.delete(podDisruptionBudgets, budget),
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy slow", "Ready"),
    },
    {
      name: "a node leaves",
      act: (users) => users.nodes.remove("worker-2"),
      isDone: (objects) => ofKind(objects, "SriovNetworkNodeState").length === workers.length - 1,
    },
    {
      name: "policies are deleted",
      async act(users) {
        for (const name of ["fast", "slow"]) await users.delete(sriovNetworkNodePolicies, place(name));
      },
      isDone: (objects) => ofKind(objects, "SriovNetworkNodeState").every(isReset),
    },
    {
      name: "all is deleted",
      async act(users) {
        await users.delete(sriovNetworkPoolConfigs, place("workers"));
        await users.delete(sriovOperatorConfigs, place(operatorConfigName));
        await Promise.all(workers.map((worker) => users.nodes.remove(worker)));
      },
      isDone: (objects) => ofKind(objects, "SriovNetworkNodeState").length === 0,
    },
  ],
};

async function applyPool(users: ClusterUsers, maxUnavailable: number): Promise<void> {
  const spec = { nodeSelector: { matchLabels: selected }, maxUnavailable };
  await users.apply(sriovNetworkPoolConfigs, { metadata: place("workers"), spec });
}

/** On all workers' first port unless told. */
async function applyPolicy(
  users: ClusterUsers,
  name: string,
  spec: Partial<SriovNetworkNodePolicySpec>,
): Promise<void> {
  const nicSelector = { rootDevices: ["0000:3b:00.0"] };
  await users.apply(sriovNetworkNodePolicies, {
    metadata: place(name),
    spec: { nodeSelector: selected, nicSelector, resourceName: "fast", numVfs: 2, ...spec },
  });
}

/** On one worker's second port. */
async function applySlow(users: ClusterUsers, spec: Partial<SriovNetworkNodePolicySpec>): Promise<void> {
  const nodeSelector = { "kubernetes.io/hostname": "worker-1" };
  const nicSelector = { rootDevices: ["0000:3b:00.1"] };
  await applyPolicy(users, "slow", { nodeSelector, nicSelector, resourceName: "slow", ...spec });
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
