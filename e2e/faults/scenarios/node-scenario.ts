// SPDX-License-Identifier: Apache-2.0
/**
 * nodeScenario adds and removes nodes. Policies create VFs on them and change their number and settings. Nodes are
 * drained for that, subject to a cordon by an administrator, a pool and a PodDisruptionBudget.
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
import type { ClusterUsers } from "../cluster-users.ts";
import { has, ofKind, place, statusOf, type Scenario } from "./scenario.ts";
import { podDisruptionBudgets } from "../types.ts";

const workers = ["worker-1", "worker-2"];

const vf = "openshift.io/fast";

const selected = { "node-role.kubernetes.io/worker": "" };

/** A PodDisruptionBudget that prevents the eviction of the pod with this name. */
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
      name: "nodes are added",
      async act(users) {
        await Promise.all(workers.map((worker) => users.nodes.add(worker)));
      },
      isDone: (objects) => ofKind(objects, "SriovNetworkNodeState").filter(isDiscovered).length === workers.length,
    },
    {
      name: "a pool is created",
      act: (users) => applyPool(users, 1),
      isDone: (objects) => has(objects, "SriovNetworkPoolConfig workers", "Ready"),
    },
    {
      name: "a policy is created while an administrator has cordoned a node",
      async act(users) {
        await users.apply(nodes, { metadata: { name: "worker-2" }, spec: { unschedulable: true } });
        await applyPolicy(users, "fast", { numVfs: 2 });
      },
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy fast", "Ready"),
    },
    {
      name: "the policy is scaled up, and pods must be evicted",
      async act(users) {
        await users.apply(nodes, { metadata: { name: "worker-2" } });
        for (const worker of workers) await users.startPod({ name: `on-${worker}`, namespace: "default" }, worker, vf);
        await applyPolicy(users, "fast", { numVfs: 4 });
      },
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy fast", "Ready"),
    },
    {
      name: "a second policy selects the other port of a node",
      async act(users) {
        await applySlow(users, { mtu: 9000 });
        await applyPool(users, 0); // Drains are not needed here, so a late event causes no other change.
      },
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy slow", "Ready"),
    },
    {
      name: "the second policy changes while no node may be drained",
      act: (users) => applySlow(users, { numVfs: 3 }),
      isDone: (objects) => drainReasonOf(objects, "worker-1") === drainReasons.heldByPool,
    },
    {
      name: "the second policy is changed back before a node may be drained",
      act: (users) => applySlow(users, { mtu: 9000 }),
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy slow", "Ready"),
    },
    {
      name: "the second policy changes while a budget protects a pod",
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
      name: "the budget is deleted",
      act: (users) => users.delete(podDisruptionBudgets, budget),
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy slow", "Ready"),
    },
    {
      name: "a node is removed",
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
      name: "all objects are deleted",
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

/** Applies a policy, by default for the first port of all workers. */
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

/** Applies the policy "slow" for the second port of one worker. */
async function applySlow(users: ClusterUsers, spec: Partial<SriovNetworkNodePolicySpec>): Promise<void> {
  const nodeSelector = { "kubernetes.io/hostname": "worker-1" };
  const nicSelector = { rootDevices: ["0000:3b:00.1"] };
  await applyPolicy(users, "slow", { nodeSelector, nicSelector, resourceName: "slow", ...spec });
}

/** Returns the reason of the node's condition about its drain; undefined while it has none. */
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
