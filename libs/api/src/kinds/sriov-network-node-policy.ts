// SPDX-License-Identifier: Apache-2.0
/**
 * SriovNetworkNodePolicy configures VFs on the matching NICs of the matching nodes (sriov-operator.md A.4).
 * The CRD's descriptions are generated from the JSDoc in this file: `npm run generate`.
 */
import { ageColumn, readyColumn, reasonColumn, type CustomResource } from "./custom-resource.ts";
import type { LinuxBridgeConfig, LinuxUplinkConfig, OvsBridgeConfig, OvsInterfaceConfig } from "./bridges.ts";
import type { NodeCounts, ObjectMeta, ObjectStatus } from "../kubernetes/metadata.ts";

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

/** Kind of driver that a group of VFs is bound to. */
export type DeviceType = "netdevice" | "vfio-pci";

/**
 * SriovNetworkNodePolicy configures virtual functions (VFs) on the matching network cards of the matching nodes and
 * makes them available to pods as an extended resource.
 * @x-kubernetes-validations [{
 *   rule: "self.metadata.name == 'default' || self.spec.resourceName != ''",
 *   message: "must not be empty: the name that pods request the VFs by",
 *   fieldPath: ".spec.resourceName",
 *   reason: "FieldValueRequired",
 *   fields: ["spec.resourceName"]
 * }, {
 *   rule: "self.metadata.name == 'default' || (has(self.spec.nicSelector.vendor) && self.spec.nicSelector.vendor != '') || (has(self.spec.nicSelector.deviceID) && self.spec.nicSelector.deviceID != '') || (has(self.spec.nicSelector.netFilter) && self.spec.nicSelector.netFilter != '') || (has(self.spec.nicSelector.rootDevices) && size(self.spec.nicSelector.rootDevices) > 0) || (has(self.spec.nicSelector.pfNames) && size(self.spec.nicSelector.pfNames) > 0)",
 *   message: "must have at least one of vendor, deviceID, rootDevices, pfNames and netFilter: an empty nicSelector matches no PF",
 *   fieldPath: ".spec.nicSelector",
 *   reason: "FieldValueRequired",
 *   fields: ["spec.nicSelector"]
 * }]
 */
// Earlier releases of upstream created an empty policy named default; upstream and Switchyard ignore it. It must stay
// valid.
export interface SriovNetworkNodePolicy {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "SriovNetworkNodePolicy";
  readonly metadata: ObjectMeta;
  /**
   * Desired state of the VFs.
   * @default { resourceName: "", nodeSelector: {}, numVfs: 0, nicSelector: {} }
   */
  // Go clients send this default for an absent spec, and upstream's CRD accepts it. It matches no NIC.
  readonly spec: SriovNetworkNodePolicySpec;
  /** Observed state of the policy, written by the operator. */
  readonly status?: SriovNetworkNodePolicyStatus;
}

/**
 * Desired state of a SriovNetworkNodePolicy.
 * @x-kubernetes-validations [{
 *   rule: "self.numVfs == 0 || !has(self.nicSelector.pfNames) || self.nicSelector.pfNames.all(name, !name.matches('^[^#]+#[0-9]{1,5}-[0-9]{1,5}$') || int(name.split('#')[1].split('-')[1]) < self.numVfs)",
 *   message: "must have VF ranges within numVfs: VF indexes start at 0, so the last of 8 VFs is 7",
 *   fieldPath: ".nicSelector.pfNames",
 *   fields: ["numVfs", "nicSelector.pfNames"]
 * }, {
 *   rule: "!has(self.nicSelector.netFilter) || self.nicSelector.netFilter == '' || !has(self.eSwitchMode)",
 *   message: "must be omitted if nicSelector.netFilter is set: network cards of virtual machines have no embedded switch",
 *   fieldPath: ".eSwitchMode",
 *   fields: ["eSwitchMode", "nicSelector.netFilter"]
 * }, {
 *   rule: "!has(self.isRdma) || !self.isRdma || !has(self.deviceType) || self.deviceType != 'vfio-pci'",
 *   message: "must be false with deviceType vfio-pci: a VF bound to vfio-pci has no RDMA device",
 *   fieldPath: ".isRdma",
 *   fields: ["isRdma", "deviceType"]
 * }, {
 *   rule: "!has(self.eSwitchMode) || self.eSwitchMode != 'switchdev' || !has(self.linkType) || self.linkType in ['eth', 'ETH']",
 *   message: "must be eth or omitted with eSwitchMode switchdev",
 *   fieldPath: ".linkType",
 *   fields: ["linkType", "eSwitchMode"]
 * }, {
 *   rule: "!has(self.vdpaType) || !has(self.deviceType) || self.deviceType == 'netdevice'",
 *   message: "requires deviceType netdevice",
 *   fieldPath: ".vdpaType",
 *   fields: ["vdpaType", "deviceType"]
 * }, {
 *   rule: "!has(self.vdpaType) || (has(self.eSwitchMode) && self.eSwitchMode == 'switchdev') || (has(self.nicSelector.vendor) && self.nicSelector.vendor == '1af4')",
 *   message: "requires eSwitchMode switchdev, or for virtio NICs nicSelector.vendor 1af4",
 *   fieldPath: ".vdpaType",
 *   fields: ["vdpaType", "eSwitchMode", "nicSelector.vendor"]
 * }, {
 *   rule: "!has(self.bridge) || !(has(self.bridge.ovs) || has(self.bridge.linux)) || (has(self.eSwitchMode) && self.eSwitchMode == 'switchdev')",
 *   message: "requires eSwitchMode switchdev",
 *   fieldPath: ".bridge",
 *   fields: ["bridge", "eSwitchMode"]
 * }, {
 *   rule: "!has(self.bridge) || !(has(self.bridge.ovs) || has(self.bridge.linux)) || !has(self.externallyManaged) || !self.externallyManaged",
 *   message: "must be omitted if externallyManaged is true: the tool that configures the PF must also add it to a bridge",
 *   fieldPath: ".bridge",
 *   fields: ["bridge", "externallyManaged"]
 * }]
 */
export interface SriovNetworkNodePolicySpec {
  /**
   * Name of the extended resource that pods request the VFs by, without the resource prefix: for "mlxnics", pods
   * request openshift.io/mlxnics.
   * @maxLength 63
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^[A-Za-z0-9]([-A-Za-z0-9_]*[A-Za-z0-9])?$')",
   *   message: "must consist of letters, digits, \"-\" and \"_\", and start and end with a letter or a digit"
   * }]
   */
  readonly resourceName: string;
  /** Selects the nodes that have all of these labels with exactly these values. An empty map selects all nodes. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  /**
   * Priority of the policy if several policies configure the same VFs: 0 is the highest, 99 the lowest. Among policies
   * with the same priority, the one whose name sorts last wins. An absent priority means 0, but the admission webhook
   * sets 99 on new policies without a priority.
   * @asType integer
   * @minimum 0
   * @maximum 99
   */
  readonly priority?: number;
  /**
   * MTU of the VFs in bytes. A lower MTU of the PF is raised to this value; a higher one is not changed. By default, no
   * MTU is changed.
   * @asType integer
   * @minimum 1
   * @maximum 65535
   */
  readonly mtu?: number;
  /**
   * Number of VFs to create on each matching PF.
   * @asType integer
   * @minimum 0
   * @maximum 65535
   */
  readonly numVfs: number;
  /** Selects the physical functions (PFs) that match all of the fields that are set. At least one field must be set. */
  readonly nicSelector: NicSelector;
  /**
   * Driver that the VFs are bound to: their kernel network driver (netdevice), or vfio-pci, for virtual machines and for
   * DPDK. On Mellanox (NVIDIA) cards DPDK does not work with vfio-pci: use netdevice with isRdma true, because DPDK's
   * driver mlx5 needs the kernel driver.
   * @default netdevice
   */
  readonly deviceType?: DeviceType;
  /** Whether pods also get the VF's RDMA device. Default: false. Must be false with deviceType vfio-pci. */
  readonly isRdma?: boolean;
  /** Whether pods also get the devices /dev/vhost-net and /dev/net/tun. Default: false. */
  readonly needVhostNet?: boolean;
  /**
   * Link type that the port must have: Ethernet (eth) or InfiniBand (ib). The firmware settings of a Mellanox card are
   * changed if necessary; another port with the other link type is reported as an error. By default, both are accepted.
   */
  readonly linkType?: "eth" | "ETH" | "ib" | "IB";
  /** Mode of the card's embedded switch. switchdev creates a representor on the host for each VF. Default: legacy. */
  readonly eSwitchMode?: "legacy" | "switchdev";
  /**
   * Type of the vDPA device to create on each VF. Requires deviceType netdevice, and eSwitchMode switchdev or, for virtio
   * NICs, nicSelector.vendor 1af4. By default, no vDPA device is created.
   */
  readonly vdpaType?: "virtio" | "vhost";
  /**
   * Whether to hide the NUMA node of the VFs from the kubelet, so that the topology manager ignores them. Default:
   * false.
   */
  readonly excludeTopology?: boolean;
  /**
   * Whether another tool creates the VFs and configures the PF. If true, Switchyard only configures the existing VFs.
   * Default: false.
   */
  readonly externallyManaged?: boolean;
  /**
   * Software bridge to create for each PF. Requires eSwitchMode switchdev and the feature gate manageSoftwareBridges.
   * By default, no bridge is created.
   */
  readonly bridge?: PolicyBridge;
}

/**
 * Selects PFs. A PF is selected if it matches all of the fields that are set.
 * @x-kubernetes-validations [{
 *   rule: "!has(self.netFilter) || self.netFilter == '' || ((!has(self.vendor) || self.vendor == '') && (!has(self.deviceID) || self.deviceID == '') && (!has(self.rootDevices) || size(self.rootDevices) == 0) && (!has(self.pfNames) || size(self.pfNames) == 0))",
 *   message: "must have netFilter alone, or other fields without netFilter: a netFilter identifies one network card of a virtual machine",
 *   fieldPath: ".netFilter"
 * }]
 */
export interface NicSelector {
  /**
   * PCI vendor ID of the PF, in hexadecimal: "8086" is Intel, "15b3" is Mellanox.
   * @maxLength 64
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^[0-9a-f]{4}$')",
   *   message: "must be a PCI vendor ID, four hexadecimal digits in lower case: \"15b3\""
   * }]
   */
  readonly vendor?: string;
  /**
   * PCI device ID of the PF (not of its VFs), in hexadecimal: "158b".
   * @maxLength 64
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^[0-9a-f]{4}$')",
   *   message: "must be a PCI device ID, four hexadecimal digits in lower case: \"158b\""
   * }]
   */
  readonly deviceID?: string;
  /**
   * PCI addresses of PFs, for example "0000:86:00.0". A PF matches if the list contains its address.
   * @maxItems 256
   */
  readonly rootDevices?: readonly RootDevice[];
  /**
   * Interface names or alternative names of PFs. A PF matches if the list contains one of its names. A name may be
   * followed by a range of VFs: "ens803f0#2-5" selects VFs 2 to 5 (inclusive) of that PF.
   * @maxItems 256
   */
  readonly pfNames?: readonly PfNameEntry[];
  /**
   * Network that the card is attached to on a virtual platform: "openstack/NetworkID:UUID" or "aws/NetworkID:ID".
   * @maxLength 1024
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('[^ \\t\\r\\n][ \\t]*:[ \\t]*[^ \\t\\r\\n]')",
   *   message: "must be KEY:VALUE, such as \"openstack/NetworkID:\" followed by the UUID of the network"
   * }]
   */
  readonly netFilter?: string;
}

/**
 * PCI address with its domain, in lower case.
 * @maxLength 64
 * @x-kubernetes-validations [{
 *   rule: "self.matches('^[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f][.][0-7]$')",
 *   message: "must be a PCI address with its domain, in lower case: \"0000:86:00.0\""
 * }]
 */
export type RootDevice = string;

/**
 * Name of a PF, optionally followed by a range of its VFs. Names have at most 127 characters.
 * @maxLength 192
 * @x-kubernetes-validations [{
 *   rule: "self.matches('^[^#/ ]+(#[0-9]{1,5}-[0-9]{1,5})?$')",
 *   message: "must be the name of a PF, optionally with a range of VFs: \"ens1f0\" or \"ens1f0#0-3\""
 * }, {
 *   rule: "!self.matches('^[^#]+#[0-9]{1,5}-[0-9]{1,5}$') || int(self.split('#')[1].split('-')[0]) <= int(self.split('#')[1].split('-')[1])",
 *   message: "must have a range from the lower VF index to the higher: \"ens1f0#0-3\""
 * }]
 */
export type PfNameEntry = string;

/**
 * Software bridge of a policy: either ovs or linux. An empty object means no bridge, because Go clients always send
 * one.
 * @x-kubernetes-validations [{
 *   rule: "!has(self.ovs) || !has(self.linux)",
 *   message: "must have either ovs or linux: a PF can be in one bridge only"
 * }]
 */
export interface PolicyBridge {
  /** Creates an Open vSwitch bridge. An empty object means a bridge with default settings. */
  readonly ovs?: PolicyOvsBridge;
  /** Creates a Linux bridge. An empty object means a bridge with default settings. */
  readonly linux?: PolicyLinuxBridge;
  /**
   * Networks of the host that lose their connection when the PF becomes a port of the bridge, as hostUse in the status of the
   * node shows them: ["10.7.0.0/16"]. Without it, a PF in whose networks the host has an address is not attached. A PF with the
   * default route or the route to the API server is never attached.
   * @maxItems 16
   */
  readonly disconnectedNetworks?: readonly BridgeNetworkAddress[];
}

/**
 * A network of IPv4 or IPv6: "10.7.0.0/16".
 * @maxLength 43
 * @pattern ^[0-9a-f.:]+/[0-9]{1,3}$
 */
export type BridgeNetworkAddress = string;

/** Open vSwitch bridge of a policy. */
export interface PolicyOvsBridge {
  /**
   * Settings of the bridge.
   * @x-kubernetes-validations [{
   *   rule: "!has(self.externalIDs) || !('switchyard.io/owner' in self.externalIDs)",
   *   message: "must not have switchyard.io/owner: Switchyard uses this key to mark its own bridges",
   *   fieldPath: ".externalIDs"
   * }]
   */
  readonly bridge?: OvsBridgeConfig;
  /** Settings of the PF as a port of the bridge. */
  readonly uplink?: PolicyOvsUplink;
}

/** The PF as a port of a policy's Open vSwitch bridge. */
export interface PolicyOvsUplink {
  /**
   * Settings of the port's interface.
   * @x-kubernetes-validations [{
   *   rule: "!has(self.externalIDs) || !('switchyard.io/owner' in self.externalIDs)",
   *   message: "must not have switchyard.io/owner: Switchyard uses this key to mark its own ports",
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
   * Settings of the PF as a port of the bridge. Keys are names of files in /sys/class/net/PF/brport: { learning: "0" }.
   * @maxProperties 32
   * @x-kubernetes-validations [{
   *   rule: "self.all(name, name in ['bpdu_guard', 'broadcast_flood', 'hairpin_mode', 'isolated', 'learning', 'multicast_fast_leave', 'multicast_flood', 'multicast_router', 'multicast_to_unicast', 'neigh_suppress', 'path_cost', 'priority', 'proxyarp', 'proxyarp_wifi', 'root_block', 'unicast_flood'])",
   *   message: "must have only keys of bpdu_guard, broadcast_flood, hairpin_mode, isolated, learning, multicast_fast_leave, multicast_flood, multicast_router, multicast_to_unicast, neigh_suppress, path_cost, priority, proxyarp, proxyarp_wifi, root_block and unicast_flood"
   * }, {
   *   rule: "self.all(name, self[name].matches('^[0-9]{1,5}$'))",
   *   message: "must have numbers in quotes as values: \"0\" is off and \"1\" is on"
   * }]
   */
  readonly uplink?: LinuxUplinkConfig;
}

/** Observed state of a SriovNetworkNodePolicy. */
export interface SriovNetworkNodePolicyStatus extends ObjectStatus, NodeCounts {}
