// SPDX-License-Identifier: Apache-2.0
/**
 * What happens in every story: a node appears, a policy is applied, somebody waits for it.
 */
import {
  nodes,
  sriovNetworkNodePolicies,
  sriovNetworks,
  type NicSelector,
  type SriovNetworkNodePolicySpec,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { collectionPath } from "@switchyard/kube";
import { eventually } from "@switchyard/testing";
import type { News } from "./node-news.ts";
import { namespace, type Stage } from "./stage.ts";

/** All defaults: nodes are drained one at a time before their VFs go. */
export async function createOperatorConfig(stage: Stage): Promise<void> {
  await stage.kubectl(["apply", "-f", "-"], {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovOperatorConfig",
    metadata: { name: "default", namespace },
    spec: {},
  });
}

/** A worker as a kubelet would register it. */
export async function createNode(stage: Stage, name: string): Promise<void> {
  const labels = {
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
    "node-role.kubernetes.io/worker": "",
  };
  const body = { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
  await stage.transport.request({ method: "POST", path: collectionPath(nodes), body });
}

/** A policy for all workers. */
export function policySpec(
  nicSelector: NicSelector,
  rest: Omit<SriovNetworkNodePolicySpec, "nicSelector" | "nodeSelector">,
): SriovNetworkNodePolicySpec {
  return { nodeSelector: { "node-role.kubernetes.io/worker": "" }, nicSelector, ...rest };
}

export async function applyPolicy(stage: Stage, name: string, spec: SriovNetworkNodePolicySpec): Promise<void> {
  const { group, version, kind } = sriovNetworkNodePolicies;
  const metadata = { name, namespace };
  await stage.kubectl(["apply", "-f", "-"], { apiVersion: `${group}/${version}`, kind, metadata, spec });
}

/** A SriovNetwork for pods of the namespace default, which get VFs of the resource "fast". */
export async function applyNetwork(stage: Stage, name: string, ipam: string): Promise<void> {
  const { group, version, kind } = sriovNetworks;
  const metadata = { name, namespace };
  const spec = { networkNamespace: "default", resourceName: "fast", vlan: 100, spoofChk: "on", ipam };
  await stage.kubectl(["apply", "-f", "-"], { apiVersion: `${group}/${version}`, kind, metadata, spec });
}

/** Waits for the condition of an object ("sriovnetwork/fast-net"), as a pipeline would. */
export async function waitFor(stage: Stage, object: string, type: string): Promise<void> {
  const output = await stage.kubectl(["wait", `--for=condition=${type}`, object, "--timeout=60s"]);
  if (!output.includes("condition met")) throw new Error(`${object} is not ${type}: ${output}`);
}

/** Waits until all of so many nodes are as `holds` says. */
export async function eachNode(
  news: News,
  { nodes: count, withinMs }: { readonly nodes: number; readonly withinMs: number },
  what: string,
  holds: (state: SriovNetworkNodeState) => boolean,
): Promise<void> {
  const hold = (): boolean => news.states.size === count && news.states.list().every(holds);
  await eventually(`each node: ${what}`, hold, { withinMs });
}

/** Waits until the policy's condition holds for its present generation. */
export async function policyIs(news: News, name: string, type: string, withinMs = 30_000): Promise<void> {
  const holds = (): boolean => {
    const policy = news.policies.get(name);
    const { conditions = [], observedGeneration } = policy?.status ?? {};
    const holding = conditions.some((condition) => condition.type === type && condition.status === "True");
    return holding && observedGeneration === policy?.metadata.generation;
  };
  await eventually(`policy ${name} ${type}`, holds, { withinMs });
}
