// SPDX-License-Identifier: Apache-2.0
/**
 * What the accidents have in common: they make the cluster healthy, change the policy, block a drain, and delete and restore objects, as
 * users do.
 */
import {
  annotations,
  operatorConfigName,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
} from "@switchyard/api";
import { collectionPath, isRecord, objectPath, type KubeObject, type ResourceType } from "@switchyard/kube";
import { findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { namespace, ofKind, place, statusOf } from "../faults/scenarios/scenario.ts";
import { podDisruptionBudgets } from "../faults/types.ts";
import { untilAsWanted, workers, type World } from "./checker.ts";

const vf = "openshift.io/fast";
const label = { app: "vnf" };
export const patient = 120_000;

/** Makes the cluster healthy: configuration, policy, and a pod with a VF on each node. */
export async function provide({ cluster, wish }: World): Promise<void> {
  const { users, observer } = cluster;
  await users.apply(sriovOperatorConfigs, { metadata: place(operatorConfigName), spec: {} });
  await applyPolicy({ cluster, wish });
  await untilAsWanted({ cluster, wish }, patient);
  for (const name of workers) {
    const isThere = ofKind(observer.objects(), "Pod").some(({ metadata }) => metadata.name === podOn(name).name);
    if (!isThere) await users.startPod({ ...podOn(name), labels: label }, name, vf);
  }
  const runs = (pod: KubeObject) => statusOf(pod)["phase"] === "Running";
  const isRunning = () => ofKind(observer.objects(), "Pod").filter(runs).length === workers.length;
  await cluster.until("the pods run", isRunning, patient);
}

export function podOn(worker: string) {
  return { name: `on-${worker}`, namespace: "default" };
}

export async function applyPolicy({ cluster, wish }: World): Promise<void> {
  await cluster.users.apply(sriovNetworkNodePolicies, {
    metadata: place("fast"),
    spec: {
      nodeSelector: { "node-role.kubernetes.io/worker": "" },
      nicSelector: { rootDevices: ["0000:3b:00.0"] },
      resourceName: "fast",
      numVfs: wish.numVfs,
    },
  });
}

/** Requests another number of VFs: 4 or 5. */
export async function changePolicy(world: World): Promise<void> {
  world.wish.numVfs = 9 - world.wish.numVfs;
  await applyPolicy(world);
}

/** Requests another number of VFs while a budget holds all pods, and waits until a drain is blocked. Returns its node. */
export async function blockDrain({ cluster, wish }: World): Promise<string> {
  const { users, observer } = cluster;
  const spec = { minAvailable: workers.length, selector: { matchLabels: label } };
  await users.apply(podDisruptionBudgets, { metadata: { name: "vnf", namespace: "default" }, spec });
  await changePolicy({ cluster, wish });
  const draining = () =>
    ofKind(observer.objects(), "SriovNetworkNodeState").find(
      ({ metadata }) => metadata.annotations?.[annotations.currentState] === "Draining",
    );
  await cluster.until("a drain is blocked", () => draining() !== undefined, patient);
  return draining()?.metadata.name ?? "";
}

export async function dropBudget({ cluster }: World): Promise<void> {
  await cluster.users.delete(podDisruptionBudgets, { name: "vnf", namespace: "default" });
}

export async function deleteStates({ cluster }: World, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => cluster.users.delete(sriovNetworkNodeStates, place(name))));
}

/** Deletes the CustomResourceDefinition, which deletes all objects of the kind. */
export async function deleteKind({ cluster }: World, { plural, group }: ResourceType): Promise<void> {
  await cluster.controlPlane.kubectl(["delete", "crd", `${plural}.${group}`]);
}

export async function createKinds({ cluster }: World): Promise<void> {
  await cluster.controlPlane.applyCrds(join(findWorkspaceRoot(), "charts/switchyard/crds"));
}

/** Creates an object, of a namespaced kind in the operator's namespace, unless it is there. */
export async function create({ cluster }: World, type: ResourceType, body: object): Promise<void> {
  const path = collectionPath(type, type.namespaced ? namespace : undefined);
  await cluster.transport.request({ method: "POST", path, body }).catch(isThereAlready);
}

/** Of a request that merges its body into an object. */
export const merge = { method: "PATCH", contentType: "application/merge-patch+json" } as const;

export async function patchState({ cluster }: World, name: string, body: object, subresource?: string): Promise<void> {
  await cluster.transport.request({
    ...merge,
    path: objectPath(sriovNetworkNodeStates, place(name), subresource),
    body,
  });
}

/** The object as a backup has it that keeps neither status nor identity. */
export function backedUp({ apiVersion, kind, metadata, ...fields }: KubeObject): object {
  const { name, namespace, labels, annotations: notes } = metadata;
  const spec = "spec" in fields ? { spec: fields.spec } : {};
  return { apiVersion, kind, metadata: { name, namespace, labels, annotations: notes }, ...spec };
}

/** The operator may have been quicker than the restore. */
function isThereAlready(error: unknown): void {
  if (!(isRecord(error) && error["code"] === "AlreadyExists")) throw error;
}
