// SPDX-License-Identifier: Apache-2.0
/**
 * Objects that a test creates as a user or a kubelet would: the operator's config, nodes, policies and networks.
 * Usage: `await applyPolicy(cluster, "fast", policySpec({ pfNames: ["enp1s0f0"] }, { resourceName: "fast", numVfs: 4 }));`
 */
import {
  nodes,
  sriovNetworkNodePolicies,
  sriovNetworks,
  type NicSelector,
  type SriovNetworkNodePolicySpec,
} from "@switchyard/api";
import { collectionPath } from "@switchyard/kube";
import { namespace, type TestCluster } from "./test-cluster.ts";

/** All defaults: nodes are drained one at a time before their VFs go. */
export async function createOperatorConfig(stage: TestCluster): Promise<void> {
  await stage.kubectl(["apply", "-f", "-"], {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovOperatorConfig",
    metadata: { name: "default", namespace },
    spec: {},
  });
}

/** A worker as a kubelet would register it. */
export async function createNode(stage: TestCluster, name: string): Promise<void> {
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

export async function applyPolicy(stage: TestCluster, name: string, spec: SriovNetworkNodePolicySpec): Promise<void> {
  const { group, version, kind } = sriovNetworkNodePolicies;
  const metadata = { name, namespace };
  await stage.kubectl(["apply", "-f", "-"], { apiVersion: `${group}/${version}`, kind, metadata, spec });
}

/** A SriovNetwork for pods of the namespace default, which get VFs of the resource "fast". */
export async function applyNetwork(stage: TestCluster, name: string, ipam: string): Promise<void> {
  const { group, version, kind } = sriovNetworks;
  const metadata = { name, namespace };
  const spec = { networkNamespace: "default", resourceName: "fast", vlan: 100, spoofChk: "on", ipam };
  await stage.kubectl(["apply", "-f", "-"], { apiVersion: `${group}/${version}`, kind, metadata, spec });
}
