// SPDX-License-Identifier: Apache-2.0
/**
 * deletionScenario deletes and recreates the objects that define the VFs of nodes while pods use VFs, as a
 * reinstallation or a GitOps tool that prunes does. It deletes node states, one and all, and the SriovOperatorConfig,
 * whose deletion deletes them. No VF may change, because nobody requested fewer VFs. Policies that are deleted
 * permanently still remove their VFs.
 */
import {
  operatorConfigName,
  pods,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
} from "@switchyard/api";
import { isRecord, type KubeObject } from "@switchyard/kube";
import type { ClusterUsers } from "../cluster-users.ts";
import { has, ofKind, place, statusOf, type Scenario, type Step } from "./scenario.ts";

const workers = ["worker-1", "worker-2"];

const vfCount = 4;

export const deletionScenario: Scenario = {
  name: "deletions",
  flags: ["--stale-node-state-cleanup-delay-minutes", "0"],
  steps: [
    {
      name: "the operator is configured, without drains",
      act: (users) => applyConfig(users, { disableDrain: true }),
      isDone: (objects) => objects.some((object) => object.kind === "SriovOperatorConfig" && "status" in object),
    },
    {
      name: "nodes are added",
      async act(users) {
        await Promise.all(workers.map((worker) => users.nodes.add(worker)));
      },
      isDone: (objects) => ofKind(objects, "SriovNetworkNodeState").filter(isDiscovered).length === workers.length,
    },
    {
      name: "a policy creates VFs",
      act: (users) =>
        users.apply(sriovNetworkNodePolicies, {
          metadata: place("fast"),
          spec: {
            nodeSelector: { "node-role.kubernetes.io/worker": "" },
            nicSelector: { rootDevices: ["0000:3b:00.0"] },
            resourceName: "fast",
            numVfs: vfCount,
          },
        }),
      isDone: haveVfs,
    },
    {
      name: "pods use the VFs",
      async act(users) {
        for (const worker of workers) {
          await users.startPod(podOn(worker), worker, "openshift.io/fast");
          await users.nodes.giveVfToPod(worker);
        }
      },
      keepsVfs: true,
      isDone: haveVfs,
    },
    ...deletions("without drains"),
    {
      name: "drains are enabled",
      act: (users) => applyConfig(users, { disableDrain: false }),
      keepsVfs: true,
      isDone: haveVfs,
    },
    ...deletions("with drains"),
    {
      name: "drains are disabled again",
      act: (users) => applyConfig(users, { disableDrain: true }),
      keepsVfs: true,
      isDone: haveVfs,
    },
    {
      name: "pods and policy are deleted permanently",
      async act(users) {
        for (const worker of workers) await users.delete(pods, podOn(worker));
        await users.delete(sriovNetworkNodePolicies, place("fast"));
      },
      isDone: (objects) => ofKind(objects, "SriovNetworkNodeState").every(isReset),
    },
    {
      name: "all objects are deleted",
      async act(users) {
        await users.delete(sriovOperatorConfigs, place(operatorConfigName));
        await Promise.all(workers.map((worker) => users.nodes.remove(worker)));
      },
      isDone: (objects) => ofKind(objects, "SriovNetworkNodeState").length === 0,
    },
  ],
};

/** Returns the steps in which no VF may change. */
function deletions(how: "with drains" | "without drains"): readonly Step[] {
  const deleteStates = async (users: ClusterUsers, names: readonly string[]) => {
    for (const name of names) await users.delete(sriovNetworkNodeStates, place(name));
  };
  const config = { disableDrain: how === "without drains" };
  const steps: readonly Omit<Step, "keepsVfs">[] = [
    {
      name: `a node state is deleted, ${how}`,
      act: (users) => deleteStates(users, ["worker-1"]),
      isDone: haveVfs,
    },
    {
      name: `all node states are deleted, ${how}`,
      act: (users) => deleteStates(users, workers),
      isDone: haveVfs,
    },
    {
      name: `the SriovOperatorConfig is deleted, ${how}`,
      act: (users) => users.delete(sriovOperatorConfigs, place(operatorConfigName)),
      isDone: (objects) => ofKind(objects, "SriovNetworkNodeState").length === 0,
    },
    {
      name: `the SriovOperatorConfig is recreated, ${how}`,
      act: (users) => applyConfig(users, config),
      isDone: haveVfs,
    },
  ];
  return steps.map((step) => ({ ...step, keepsVfs: true }));
}

function podOn(worker: string): { readonly name: string; readonly namespace: string } {
  return { name: `on-${worker}`, namespace: "default" };
}

async function applyConfig(users: ClusterUsers, spec: { readonly disableDrain: boolean }): Promise<void> {
  await users.apply(sriovOperatorConfigs, { metadata: place(operatorConfigName), spec });
}

/** Reports whether every node has its node state, requests the VFs in it, and has them, and the policy is Ready. */
function haveVfs(objects: readonly KubeObject[]): boolean {
  const states = ofKind(objects, "SriovNetworkNodeState");
  return (
    states.length === workers.length &&
    states.every((state) => isCurrent(state) && hasVfs(state)) &&
    has(objects, "SriovNetworkNodePolicy fast", "Ready")
  );
}

function hasVfs(state: KubeObject): boolean {
  const { spec } = { spec: undefined, ...state };
  const [wanted, found] = [spec, statusOf(state)].map((part) =>
    isRecord(part) && Array.isArray(part["interfaces"]) ? part["interfaces"].filter(isRecord) : [],
  );
  const have = (nics: typeof wanted) => nics?.some((nic) => nic["numVfs"] === vfCount) === true;
  return have(wanted) && have(found);
}

/** Reports whether the daemon has applied the current spec. */
function isCurrent(state: KubeObject): boolean {
  const { observedGeneration, syncStatus } = statusOf(state);
  return observedGeneration === state.metadata.generation && syncStatus === "Succeeded";
}

function isDiscovered(state: KubeObject): boolean {
  const { interfaces } = statusOf(state);
  return Array.isArray(interfaces) && interfaces.length > 0;
}

function isReset(state: KubeObject): boolean {
  const { interfaces } = statusOf(state);
  const hasNoVfs = (nic: unknown) => isRecord(nic) && (nic["numVfs"] ?? 0) === 0;
  return isCurrent(state) && Array.isArray(interfaces) && interfaces.every(hasNoVfs);
}
