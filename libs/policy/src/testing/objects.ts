// SPDX-License-Identifier: Apache-2.0
/**
 * Builders of invented objects for tests. Each builder returns a valid object and takes the fields that a test depends
 * on.
 */
import type {
  AfxdpInterfaceStatus,
  AfxdpNetworkNodePolicy,
  AfxdpNetworkNodePolicySpec,
  InterfaceStatus,
  MachineConfigPool,
  MachineConfigPoolSpec,
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

/**
 * Builders of invented AF_XDP objects for tests.
 * Two ports of a card with subfunctions, a card without, and an interface that is not on the PCI bus.
 */
export const afxdpNics: readonly AfxdpInterfaceStatus[] = [
  {
    pciAddress: "0000:86:00.0",
    name: "ens1f0",
    mac: "b4:96:91:aa:bb:00",
    driver: "ice",
    vendor: "8086",
    deviceID: "1592",
    mtu: 1500,
    maxMtu: 9702,
    queues: 16,
    maxQueues: 64,
    maxSfs: 64,
  },
  {
    pciAddress: "0000:86:00.1",
    name: "ens1f1",
    mac: "b4:96:91:aa:bb:01",
    driver: "ice",
    vendor: "8086",
    deviceID: "1592",
    mtu: 1500,
    maxMtu: 9702,
    queues: 16,
    maxQueues: 64,
    maxSfs: 64,
  },
  {
    pciAddress: "0000:87:00.0",
    name: "enp135s0",
    altNames: ["storage0"],
    mac: "a0:36:9f:00:00:01",
    driver: "igb",
    vendor: "8086",
    deviceID: "1521",
    mtu: 1500,
    queues: 8,
    maxQueues: 8,
    maxSfs: 0,
  },
  { name: "veth10", mac: "02:00:00:00:00:10", driver: "veth", mtu: 1500 },
];

/** Returns a policy of priority 99 for all nodes: the device ens1f0 in the pool "<name>pool". */
export function afxdpPolicy(name: string, spec: Partial<AfxdpNetworkNodePolicySpec> = {}): AfxdpNetworkNodePolicy {
  return {
    apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
    kind: "AfxdpNetworkNodePolicy",
    metadata: { name, namespace: "sriov-network-operator" },
    spec: { poolName: `${name}pool`, nodeSelector: {}, nicSelector: { pfNames: ["ens1f0"] }, ...spec },
  };
}
