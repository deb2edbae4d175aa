// SPDX-License-Identifier: Apache-2.0
/**
 * Builders of invented AF_XDP objects for tests.
 * Usage: `afxdpPolicy("p1", { numSfs: 4, nicSelector: { pfNames: ["ens1f0"] } })`.
 */
import type { AfxdpInterfaceStatus, AfxdpNetworkNodePolicy, AfxdpNetworkNodePolicySpec } from "@switchyard/api";

/** Two ports of a card with subfunctions, a card without, and an interface that is not on the PCI bus. */
export const afxdpNics: readonly AfxdpInterfaceStatus[] = [
  {
    ...{ pciAddress: "0000:86:00.0", name: "ens1f0", mac: "b4:96:91:aa:bb:00", driver: "ice" },
    ...{ vendor: "8086", deviceID: "1592", mtu: 1500, maxMtu: 9702, queues: 16, maxQueues: 64, maxSfs: 64 },
  },
  {
    ...{ pciAddress: "0000:86:00.1", name: "ens1f1", mac: "b4:96:91:aa:bb:01", driver: "ice" },
    ...{ vendor: "8086", deviceID: "1592", mtu: 1500, maxMtu: 9702, queues: 16, maxQueues: 64, maxSfs: 64 },
  },
  {
    ...{ pciAddress: "0000:87:00.0", name: "enp135s0", altNames: ["storage0"], mac: "a0:36:9f:00:00:01" },
    ...{ driver: "igb", vendor: "8086", deviceID: "1521", mtu: 1500, queues: 8, maxQueues: 8, maxSfs: 0 },
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
