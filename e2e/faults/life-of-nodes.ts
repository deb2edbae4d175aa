// SPDX-License-Identifier: Apache-2.0
/** Nodes come and go; policies make VFs on them, more, fewer and others; pods that use VFs are drained for that. */
import {
  operatorConfigName,
  sriovNetworkNodePolicies,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  type SriovNetworkNodePolicySpec,
} from "@switchyard/api";
import { isRecord, type KubeObject } from "@switchyard/kube";
import { has, ofKind, place, statusOf, type Life } from "./life.ts";
import type { Actors } from "./actors.ts";

const workers = ["worker-1", "worker-2"];

const vf = "openshift.io/fast";

const selected = { "node-role.kubernetes.io/worker": "" };

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
      act: (actors) =>
        actors.apply(sriovNetworkPoolConfigs, {
          metadata: place("workers"),
          spec: { nodeSelector: { matchLabels: selected }, maxUnavailable: 1 },
        }),
      isDone: (objects) => has(objects, "SriovNetworkPoolConfig workers", "Ready"),
    },
    {
      name: "a policy is made",
      act: (actors) => applyPolicy(actors, "fast", { numVfs: 2 }),
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy fast", "Ready"),
    },
    {
      name: "the policy is scaled up",
      async act(actors) {
        for (const worker of workers) await actors.startPod({ name: `on-${worker}`, namespace: "default" }, worker, vf);
        await applyPolicy(actors, "fast", { numVfs: 4 });
      },
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy fast", "Ready"),
    },
    {
      name: "a second policy takes the other port",
      act: (actors) =>
        applyPolicy(actors, "slow", {
          nicSelector: { rootDevices: ["0000:3b:00.1"] },
          resourceName: "slow",
          mtu: 9000,
        }),
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy slow", "Ready"),
    },
    {
      name: "the policy is scaled down",
      act: (actors) => applyPolicy(actors, "fast", { numVfs: 1 }),
      isDone: (objects) => has(objects, "SriovNetworkNodePolicy fast", "Ready"),
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

/** On all workers' first port unless told. */
async function applyPolicy(actors: Actors, name: string, spec: Partial<SriovNetworkNodePolicySpec>): Promise<void> {
  const nicSelector = { rootDevices: ["0000:3b:00.0"] };
  await actors.apply(sriovNetworkNodePolicies, {
    metadata: place(name),
    spec: { nodeSelector: selected, nicSelector, resourceName: "fast", numVfs: 2, ...spec },
  });
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
