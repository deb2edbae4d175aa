// SPDX-License-Identifier: Apache-2.0
/**
 * All objects on whose existence something depends that nodes, pods and hosts have, as data: each is in a cluster of which
 * absent-parents.test.ts removes one after the other. ovn-offload/objects-lost.test.ts and config-lost.test.ts have the parents of
 * hosts whose OVN runs on their SmartNIC.
 */
import {
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  afxdpNetworks,
  afxdpOperatorConfigs,
  bridgeNetworks,
  configMaps,
  operatorConfigName,
  ovsNetworks,
  sriovIBNetworks,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  sriovNetworks,
  sriovOperatorConfigs,
  type ResourceType,
} from "@switchyard/api";
import { igb, mlx5, type FakeNic } from "@switchyard/host/testing";
import type { UserObject } from "../faults/cluster-users.ts";
import { place } from "../faults/scenarios/scenario.ts";

/** Namespace of the NetworkAttachmentDefinitions. */
export const tenant = "tenant";

/** NICs of each node, besides the one with VFs: for subfunctions, and a model that only the list of NICs knows. */
export const moreNics: readonly FakeNic[] = [
  mlx5("0000:86:00.0", { ports: 1 }),
  { ports: igb("0000:05:00.0", { ports: 1 }).ports.map((port) => ({ ...port, deviceId: "fff0" })) },
];

export interface Parent {
  readonly type: ResourceType;
  /** Absent for node states, which the operator creates. */
  readonly object?: UserObject;
  readonly name: string;
}

const nodeSelector = { "node-role.kubernetes.io/worker": "" };

const of = (type: ResourceType, name: string, fields: object): Parent => ({
  type,
  name,
  object: { metadata: place(name), ...fields },
});

const network = (type: ResourceType, name: string, spec: object): Parent =>
  of(type, name, { spec: { networkNamespace: tenant, ...spec } });

/** In the order in which users create them. */
export const parents: readonly Parent[] = [
  of(sriovOperatorConfigs, operatorConfigName, { spec: {} }),
  of(afxdpOperatorConfigs, operatorConfigName, { spec: {} }),
  of(configMaps, "supported-nic-ids", { data: { Unknown_card: "8086 fff0 10ca" } }),
  of(sriovNetworkPoolConfigs, "pool", {
    spec: { nodeSelector: { matchLabels: nodeSelector }, maxUnavailable: 1, rdmaMode: "exclusive" },
  }),
  of(sriovNetworkNodePolicies, "fast", {
    spec: { nodeSelector, nicSelector: { rootDevices: ["0000:3b:00.0"] }, resourceName: "fast", numVfs: 4 },
  }),
  of(sriovNetworkNodePolicies, "listed", {
    spec: { nodeSelector, nicSelector: { rootDevices: ["0000:05:00.0"] }, resourceName: "listed", numVfs: 2 },
  }),
  of(afxdpNetworkNodePolicies, "sockets", {
    spec: { nodeSelector, nicSelector: { rootDevices: ["0000:86:00.0"] }, poolName: "sockets", numSfs: 2 },
  }),
  network(sriovNetworks, "sriov", { resourceName: "fast", vlan: 5 }),
  network(sriovIBNetworks, "infiniband", { resourceName: "fast" }),
  network(ovsNetworks, "ovs", { resourceName: "fast", bridge: "br-1" }),
  network(bridgeNetworks, "bridge", { resourceName: "fast", bridge: "br-2" }),
  network(afxdpNetworks, "sockets", { poolName: "sockets" }),
];

/** The operator creates them again. */
const nodeStates: readonly Parent[] = [
  { type: sriovNetworkNodeStates, name: "worker-1" },
  { type: afxdpNetworkNodeStates, name: "worker-1" },
];

/** One row for each kind. */
export const rows: readonly { readonly kind: string; readonly absent: readonly Parent[] }[] = [
  ...Map.groupBy([...parents, ...nodeStates], ({ type }) => type.kind),
].map(([kind, absent]) => ({ kind, absent }));
