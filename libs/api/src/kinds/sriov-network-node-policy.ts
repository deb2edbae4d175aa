// SPDX-License-Identifier: Apache-2.0
/**
 * SriovNetworkNodePolicy: which NICs of which nodes get how many VFs, and what these are for (sriov-operator.md A.4).
 * The JSDoc here is the CRD's text: `npm run generate`.
 */
import { ageColumn, readyColumn, reasonColumn, type CustomResource } from "./custom-resource.ts";
import type { LinuxBridgeConfig, LinuxUplinkConfig } from "./linux-bridge.ts";
import type { NodeCounts, ObjectMeta, ObjectStatus } from "../kubernetes/metadata.ts";
import type { OvsBridgeConfig, OvsInterfaceConfig } from "./ovs-bridge.ts";

export const sriovNetworkNodePolicies = {
  group: "sriovnetwork.openshift.io",
  version: "v1",
  kind: "SriovNetworkNodePolicy",
  plural: "sriovnetworknodepolicies",
  namespaced: true,
  columns: [
    { name: "Resource", type: "string", jsonPath: ".spec.resourceName" },
    { name: "VFs", type: "integer", jsonPath: ".spec.numVfs" },
    { name: "Priority", type: "integer", jsonPath: ".spec.priority" },
    { name: "Device Type", type: "string", jsonPath: ".spec.deviceType", wide: true },
    { name: "ESwitch", type: "string", jsonPath: ".spec.eSwitchMode", wide: true },
    { name: "MTU", type: "integer", jsonPath: ".spec.mtu", wide: true },
    { name: "Matched Nodes", type: "integer", jsonPath: ".status.matchedNodeCount" },
    { name: "Ready Nodes", type: "integer", jsonPath: ".status.readyNodeCount" },
    readyColumn,
    reasonColumn,
    ageColumn,
  ],
} as const satisfies CustomResource;

/** What a group of VFs is bound to. */
export type DeviceType = "netdevice" | "vfio-pci";

/**
 * Asks for virtual functions (VFs) on the matching network cards of the matching nodes, and says what they are for.
 * @x-kubernetes-validations [{
 *   rule: "self.metadata.name == 'default' || self.spec.resourceName != ''",
 *   message: "must not be empty: the name that pods will request the VFs by",
 *   fieldPath: ".spec.resourceName",
 *   reason: "FieldValueRequired",
 *   fields: ["spec.resourceName"]
 * }, {
 *   rule: "self.metadata.name == 'default' || (has(self.spec.nicSelector.vendor) && self.spec.nicSelector.vendor != '') || (has(self.spec.nicSelector.deviceID) && self.spec.nicSelector.deviceID != '') || (has(self.spec.nicSelector.netFilter) && self.spec.nicSelector.netFilter != '') || (has(self.spec.nicSelector.rootDevices) && size(self.spec.nicSelector.rootDevices) > 0) || (has(self.spec.nicSelector.pfNames) && size(self.spec.nicSelector.pfNames) > 0)",
 *   message: "must have at least one of vendor, deviceID, rootDevices, pfNames and netFilter: empty it matches no PF",
 *   fieldPath: ".spec.nicSelector",
 *   reason: "FieldValueRequired",
 *   fields: ["spec.nicSelector"]
 * }]
 */
// Upstream once made a policy named default, which it passes over since: it may be as empty as that one was.
export interface SriovNetworkNodePolicy {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "SriovNetworkNodePolicy";
  readonly metadata: ObjectMeta;
  /**
   * What is wanted.
   * @default { resourceName: "", nodeSelector: {}, numVfs: 0, nicSelector: {} }
   */
  // The default is what Go clients make of an absent spec, which upstream's CRD accepts: it matches no NIC.
  readonly spec: SriovNetworkNodePolicySpec;
  /** What became of it. */
  readonly status?: SriovNetworkNodePolicyStatus;
}

/**
 * What is wanted.
 * @x-kubernetes-validations [{
 *   rule: "self.numVfs == 0 || !has(self.nicSelector.pfNames) || self.nicSelector.pfNames.all(name, !name.matches('^[^#]+#[0-9]{1,5}-[0-9]{1,5}$') || int(name.split('#')[1].split('-')[1]) < self.numVfs)",
 *   message: "must be ranges within numVfs: VFs count from 0, so of 8 VFs the last one is 7",
 *   fieldPath: ".nicSelector.pfNames",
 *   fields: ["numVfs", "nicSelector.pfNames"]
 * }, {
 *   rule: "!has(self.nicSelector.netFilter) || self.nicSelector.netFilter == '' || !has(self.eSwitchMode)",
 *   message: "must be left out beside a netFilter: network cards of virtual machines have no embedded switch to set",
 *   fieldPath: ".eSwitchMode",
 *   fields: ["eSwitchMode", "nicSelector.netFilter"]
 * }, {
 *   rule: "!has(self.isRdma) || !self.isRdma || !has(self.deviceType) || self.deviceType != 'vfio-pci'",
 *   message: "must be false with deviceType vfio-pci, which leaves the VF without its RDMA device",
 *   fieldPath: ".isRdma",
 *   fields: ["isRdma", "deviceType"]
 * }, {
 *   rule: "!has(self.eSwitchMode) || self.eSwitchMode != 'switchdev' || !has(self.linkType) || self.linkType in ['eth', 'ETH']",
 *   message: "must be eth or left out with eSwitchMode switchdev",
 *   fieldPath: ".linkType",
 *   fields: ["linkType", "eSwitchMode"]
 * }, {
 *   rule: "!has(self.vdpaType) || !has(self.deviceType) || self.deviceType == 'netdevice'",
 *   message: "needs deviceType netdevice",
 *   fieldPath: ".vdpaType",
 *   fields: ["vdpaType", "deviceType"]
 * }, {
 *   rule: "!has(self.vdpaType) || (has(self.eSwitchMode) && self.eSwitchMode == 'switchdev')",
 *   message: "needs eSwitchMode switchdev",
 *   fieldPath: ".vdpaType",
 *   fields: ["vdpaType", "eSwitchMode"]
 * }, {
 *   rule: "!has(self.bridge) || !(has(self.bridge.ovs) || has(self.bridge.linux)) || (has(self.eSwitchMode) && self.eSwitchMode == 'switchdev')",
 *   message: "needs eSwitchMode switchdev",
 *   fieldPath: ".bridge",
 *   fields: ["bridge", "eSwitchMode"]
 * }, {
 *   rule: "!has(self.bridge) || !(has(self.bridge.ovs) || has(self.bridge.linux)) || !has(self.externallyManaged) || !self.externallyManaged",
 *   message: "must be left out with externallyManaged: whoever configures the PF also puts it into a bridge",
 *   fieldPath: ".bridge",
 *   fields: ["bridge", "externallyManaged"]
 * }]
 */
export interface SriovNetworkNodePolicySpec {
  /**
   * Resource that pods request the VFs by, without its prefix: "mlxnics" is openshift.io/mlxnics in a pod.
   * @maxLength 63
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^[A-Za-z0-9]([-A-Za-z0-9_]*[A-Za-z0-9])?$')",
   *   message: "must be letters, digits, \"-\" and \"_\", with a letter or a digit at both ends"
   * }]
   */
  readonly resourceName: string;
  /** Labels that a node must carry, all of them, with exactly these values. Empty selects every node. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  /**
   * Which policy wins where several ask for the same VFs: 0 is the strongest, 99 the weakest. Of equal ones the last by
   * name wins. The admission webhook fills in 99.
   * @asType integer
   * @minimum 0
   * @maximum 99
   */
  readonly priority?: number;
  /**
   * MTU of the VFs in bytes. The PF's is raised to it where lower; it is not lowered.
   * @asType integer
   * @minimum 1
   * @maximum 65535
   */
  readonly mtu?: number;
  /**
   * VFs that each matching PF shall have.
   * @asType integer
   * @minimum 0
   * @maximum 65535
   */
  readonly numVfs: number;
  /** Which physical functions (PFs): those that match all given fields. At least one must be given. */
  readonly nicSelector: NicSelector;
  /**
   * What the VFs are bound to: their kernel driver (netdevice), or vfio-pci for DPDK and virtual machines.
   * @default netdevice
   */
  readonly deviceType?: DeviceType;
  /** Pods also get the VF's RDMA device. Not with vfio-pci. */
  readonly isRdma?: boolean;
  /** Pods also get /dev/vhost-net and /dev/net/tun. */
  readonly needVhostNet?: boolean;
  /** Protocol of the port, Ethernet or InfiniBand. A port that has the other one reports it: firmware is not changed yet. */
  readonly linkType?: "eth" | "ETH" | "ib" | "IB";
  /** Mode of the card's embedded switch; absent is legacy. switchdev gives each VF a representor on the host. */
  readonly eSwitchMode?: "legacy" | "switchdev";
  /** vDPA device to make on each VF. Needs eSwitchMode switchdev and deviceType netdevice. */
  readonly vdpaType?: "virtio" | "vhost";
  /** Do not tell the kubelet which NUMA node the VFs belong to, so that it cannot align pods by it. */
  readonly excludeTopology?: boolean;
  /** Somebody else creates the VFs and configures the PF: only the VFs' drivers and settings are ours. */
  readonly externallyManaged?: boolean;
  /** Software bridge to put each PF into. Needs eSwitchMode switchdev and the feature gate manageSoftwareBridges. */
  readonly bridge?: PolicyBridge;
}

/**
 * What a PF must be, in all of the given fields.
 * @x-kubernetes-validations [{
 *   rule: "!has(self.netFilter) || self.netFilter == '' || ((!has(self.vendor) || self.vendor == '') && (!has(self.deviceID) || self.deviceID == '') && (!has(self.rootDevices) || size(self.rootDevices) == 0) && (!has(self.pfNames) || size(self.pfNames) == 0))",
 *   message: "must have netFilter alone, or other fields without it: a netFilter stands for one network card of a virtual machine",
 *   fieldPath: ".netFilter"
 * }]
 */
export interface NicSelector {
  /**
   * PCI vendor id in hexadecimal: "8086" is Intel, "15b3" Mellanox.
   * @maxLength 64
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^[0-9a-f]{4}$')",
   *   message: "must be a PCI vendor id, four hexadecimal digits in lower case: \"15b3\""
   * }]
   */
  readonly vendor?: string;
  /**
   * PCI device id of the PF (not of its VFs) in hexadecimal: "158b".
   * @maxLength 64
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^[0-9a-f]{4}$')",
   *   message: "must be a PCI device id, four hexadecimal digits in lower case: \"158b\""
   * }]
   */
  readonly deviceID?: string;
  /**
   * PCI addresses of the PFs, any of them: "0000:86:00.0".
   * @maxItems 256
   */
  readonly rootDevices?: readonly RootDevice[];
  /**
   * Names or alternative names of the PFs, any of them. "ens803f0#2-5" takes VFs 2 to 5 of that PF, both included.
   * @maxItems 256
   */
  readonly pfNames?: readonly PfNameEntry[];
  /**
   * Network behind the card on a virtual platform: "openstack/NetworkID:UUID" or "aws/NetworkID:ID".
   * @maxLength 1024
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('[^ \\t\\r\\n][ \\t]*:[ \\t]*[^ \\t\\r\\n]')",
   *   message: "must be KEY:VALUE, such as \"openstack/NetworkID:\" and the UUID of the network"
   * }]
   */
  readonly netFilter?: string;
}

/**
 * A PCI address, with the domain and in lower case as the kernel writes it.
 * @maxLength 64
 * @x-kubernetes-validations [{
 *   rule: "self.matches('^[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f][.][0-7]$')",
 *   message: "must be a PCI address with its domain, in lower case: \"0000:86:00.0\""
 * }]
 */
export type RootDevice = string;

/**
 * Name of a PF, perhaps with some of its VFs. No name is longer than 127 characters.
 * @maxLength 192
 * @x-kubernetes-validations [{
 *   rule: "self.matches('^[^#/ ]+(#[0-9]{1,5}-[0-9]{1,5})?$')",
 *   message: "must be the name of a PF, or with some of its VFs: \"ens1f0\" or \"ens1f0#0-3\""
 * }, {
 *   rule: "!self.matches('^[^#]+#[0-9]{1,5}-[0-9]{1,5}$') || int(self.split('#')[1].split('-')[0]) <= int(self.split('#')[1].split('-')[1])",
 *   message: "must be a range from the lower VF to the higher: \"ens1f0#0-3\""
 * }]
 */
export type PfNameEntry = string;

/**
 * Software bridge of a policy, of one type. An empty object is no bridge: Go clients always send one.
 * @x-kubernetes-validations [{
 *   rule: "!has(self.ovs) || !has(self.linux)",
 *   message: "must be either ovs or linux: a PF is in one bridge only"
 * }]
 */
export interface PolicyBridge {
  /** Open vSwitch bridge. An empty object is a bridge with default settings. */
  readonly ovs?: PolicyOvsBridge;
  /** Linux bridge. An empty object is a bridge with default settings. */
  readonly linux?: PolicyLinuxBridge;
}

/** Open vSwitch bridge of a policy. */
export interface PolicyOvsBridge {
  /**
   * Settings of the bridge.
   * @x-kubernetes-validations [{
   *   rule: "!has(self.externalIDs) || !('switchyard.io/owner' in self.externalIDs)",
   *   message: "must not have switchyard.io/owner, by which the operator knows its own bridges",
   *   fieldPath: ".externalIDs"
   * }]
   */
  readonly bridge?: OvsBridgeConfig;
  /** Settings of the PF as the bridge's port. */
  readonly uplink?: PolicyOvsUplink;
}

/** The PF as port of a policy's Open vSwitch bridge. */
export interface PolicyOvsUplink {
  /**
   * Settings of the port's interface.
   * @x-kubernetes-validations [{
   *   rule: "!has(self.externalIDs) || !('switchyard.io/owner' in self.externalIDs)",
   *   message: "must not have switchyard.io/owner, by which the operator knows its own ports",
   *   fieldPath: ".externalIDs"
   * }, {
   *   rule: "!has(self.mtuRequest) || (1 <= self.mtuRequest && self.mtuRequest <= 65535)",
   *   message: "must be from 1 to 65535",
   *   fieldPath: ".mtuRequest"
   * }]
   */
  readonly interface?: OvsInterfaceConfig;
}

/** Linux bridge of a policy. */
export interface PolicyLinuxBridge {
  /** Settings of the bridge. */
  readonly bridge?: LinuxBridgeConfig;
  /**
   * Settings of the PF as the bridge's port, named like the files in /sys/class/net/PF/brport: { learning: "0" }.
   * @maxProperties 32
   * @x-kubernetes-validations [{
   *   rule: "self.all(name, name in ['bpdu_guard', 'broadcast_flood', 'hairpin_mode', 'isolated', 'learning', 'multicast_fast_leave', 'multicast_flood', 'multicast_router', 'multicast_to_unicast', 'neigh_suppress', 'path_cost', 'priority', 'proxyarp', 'proxyarp_wifi', 'root_block', 'unicast_flood'])",
   *   message: "must be of bpdu_guard, broadcast_flood, hairpin_mode, isolated, learning, multicast_fast_leave, multicast_flood, multicast_router, multicast_to_unicast, neigh_suppress, path_cost, priority, proxyarp, proxyarp_wifi, root_block and unicast_flood"
   * }, {
   *   rule: "self.all(name, self[name].matches('^[0-9]{1,5}$'))",
   *   message: "must be numbers, in quotes: \"0\" is off and \"1\" is on"
   * }]
   */
  readonly uplink?: LinuxUplinkConfig;
}

/** What became of it. */
export interface SriovNetworkNodePolicyStatus extends ObjectStatus, NodeCounts {}
