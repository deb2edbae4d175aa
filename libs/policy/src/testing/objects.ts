// SPDX-License-Identifier: Apache-2.0
/**
 * Builders of invented objects for tests. Each builder returns a valid object and takes the fields that a test depends
 * on.
 * Usage: `policy("p1", { numVfs: 2, nicSelector: { pfNames: ["ens803f1"] } })`.
 */
import type {
  MachineConfigPool,
  MachineConfigPoolSpec,
  InterfaceStatus,
  Node,
  SriovNetworkNodePolicy,
  SriovNetworkNodePolicySpec,
  SriovNetworkPoolConfig,
  SriovNetworkPoolConfigSpec,
  SriovOperatorConfig,
  SriovOperatorConfigSpec,
} from "@switchyard/api";

/** Three ports; the third is another model and has alternative names. */
export const nics: readonly InterfaceStatus[] = [
  {
    pciAddress: "0000:86:00.0",
    name: "ens803f0",
    vendor: "8086",
    deviceID: "158b",
    driver: "i40e",
    mtu: 1500,
    totalvfs: 64,
  },
  {
    pciAddress: "0000:86:00.1",
    name: "ens803f1",
    vendor: "8086",
    deviceID: "158b",
    driver: "i40e",
    mtu: 1500,
    totalvfs: 64,
  },
  {
    pciAddress: "0000:86:00.2",
    name: "ens803f2",
    altNames: ["enp134s0f2", "storage0"],
    vendor: "8086",
    deviceID: "1572",
    driver: "i40e",
    mtu: 1500,
    totalvfs: 64,
  },
];

/** Returns a Linux worker with additional labels. */
export function node(name = "worker-1", labels: Readonly<Record<string, string>> = {}): Node {
  const role = { "node-role.kubernetes.io/worker": "", "kubernetes.io/os": "linux" };
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels: { ...role, ...labels } } };
}

/** Returns a policy of priority 99 for all nodes: 2 VFs on ens803f1 for the resource "<name>res". */
export function policy(name: string, spec: Partial<SriovNetworkNodePolicySpec> = {}): SriovNetworkNodePolicy {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodePolicy",
    metadata: { name, namespace: "sriov-network-operator" },
    spec: {
      resourceName: `${name}res`,
      nodeSelector: {},
      priority: 99,
      numVfs: 2,
      nicSelector: { pfNames: ["ens803f1"] },
      deviceType: "netdevice",
      ...spec,
    },
  };
}

/** Returns a pool. `created` is a day of 2026 as "MM-DD"; absent if the pool has not been created in a cluster. */
export function pool(name: string, spec: SriovNetworkPoolConfigSpec, created?: string): SriovNetworkPoolConfig {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkPoolConfig",
    metadata: { name, ...(created && { creationTimestamp: `2026-${created}T00:00:00Z` }) },
    spec,
  };
}

/** Returns the SriovOperatorConfig "default". */
export function operatorConfig(spec: SriovOperatorConfigSpec): SriovOperatorConfig {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovOperatorConfig",
    metadata: { name: "default", namespace: "sriov-network-operator" },
    spec,
  };
}

/** Returns a PF of a BlueField-2 at the address. */
export function blueFieldPf(pciAddress = "0000:3b:00.0", fields: Partial<InterfaceStatus> = {}): InterfaceStatus {
  return {
    pciAddress,
    name: "ens1f0np0",
    vendor: "15b3",
    deviceID: "a2d6",
    driver: "mlx5_core",
    totalvfs: 16,
    ...fields,
  };
}

/** Returns a MachineConfigPool as OpenShift's documentation shows it: role `name`, nodes with the role label `name`. */
export function machineConfigPool(name: string, spec: MachineConfigPoolSpec = {}): MachineConfigPool {
  const key = "machineconfiguration.openshift.io/role";
  const values = name === "worker" || name === "master" ? [name] : ["worker", name];
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfigPool",
    metadata: { name },
    spec: {
      machineConfigSelector: { matchExpressions: [{ key, operator: "In", values }] },
      nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: "" } },
      ...spec,
    },
  };
}
