// SPDX-License-Identifier: Apache-2.0
/**
 * These functions create objects as a user or a kubelet does: the SriovOperatorConfig, nodes, policies and networks.
 * Usage: `await applyPolicy(cluster, "fast", policySpec({ pfNames: ["enp1s0f0"] }, { resourceName: "fast", numVfs: 4 }));`
 */
import {
  nodes,
  sriovNetworkNodePolicies,
  sriovNetworks,
  type NicSelector,
  type SriovNetworkNodePolicySpec,
  type SriovOperatorConfigSpec,
} from "@switchyard/api";
import { collectionPath } from "@switchyard/kube";
import { namespace, type TestCluster } from "./test-cluster.ts";

/** Creates the SriovOperatorConfig. With its defaults, nodes are drained one at a time. */
export async function createOperatorConfig(cluster: TestCluster, spec: SriovOperatorConfigSpec = {}): Promise<void> {
  await cluster.kubectl(["apply", "-f", "-"], {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovOperatorConfig",
    metadata: { name: "default", namespace },
    spec,
  });
}

/** Turns a feature gate of the SriovOperatorConfig on. */
export async function enableFeatureGate(cluster: TestCluster, gate: string): Promise<void> {
  const patch = JSON.stringify({ spec: { featureGates: { [gate]: true } } });
  const config = ["sriovoperatorconfig", "default", "-n", namespace];
  await cluster.kubectl(["patch", ...config, "--type=merge", "-p", patch]);
}

/** Creates a worker node as a kubelet would register it. */
export async function createNode(cluster: TestCluster, name: string): Promise<void> {
  const labels = {
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
    "node-role.kubernetes.io/worker": "",
  };
  const body = { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
  await cluster.transport.request({ method: "POST", path: collectionPath(nodes), body });
}

/** Returns the spec of a policy for all workers. */
export function policySpec(
  nicSelector: NicSelector,
  rest: Omit<SriovNetworkNodePolicySpec, "nicSelector" | "nodeSelector">,
): SriovNetworkNodePolicySpec {
  return { nodeSelector: { "node-role.kubernetes.io/worker": "" }, nicSelector, ...rest };
}

/** Creates or updates a policy. */
export async function applyPolicy(cluster: TestCluster, name: string, spec: SriovNetworkNodePolicySpec): Promise<void> {
  const { group, version, kind } = sriovNetworkNodePolicies;
  const metadata = { name, namespace };
  await cluster.kubectl(["apply", "-f", "-"], { apiVersion: `${group}/${version}`, kind, metadata, spec });
}

/** Creates a SriovNetwork with the resource "fast" for pods in the namespace "default". */
export async function applyNetwork(cluster: TestCluster, name: string, ipam: string): Promise<void> {
  const { group, version, kind } = sriovNetworks;
  const metadata = { name, namespace };
  const spec = { networkNamespace: "default", resourceName: "fast", vlan: 100, spoofChk: "on", ipam };
  await cluster.kubectl(["apply", "-f", "-"], { apiVersion: `${group}/${version}`, kind, metadata, spec });
}
