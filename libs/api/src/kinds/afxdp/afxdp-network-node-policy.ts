// SPDX-License-Identifier: Apache-2.0
/**
 * AfxdpNetworkNodePolicy offers AF_XDP devices of the matching nodes to pods (eve-and-afxdp.md b4). The CRD's
 * descriptions are generated from the JSDoc in this file: `npm run generate`.
 */
import type { NodeCounts, ObjectMeta, ObjectStatus } from "../../kubernetes/metadata.ts";
import { ageColumn, readyColumn, reasonColumn, type CustomResource } from "../custom-resource.ts";
import type { RootDevice } from "../sriov-network-node-policy.ts";
import type { AfxdpMode, AfxdpPoolName, AfxdpPoolSettings } from "./afxdp-pool.ts";

export const afxdpNetworkNodePolicies = {
  group: "afxdpnetwork.hns.dev",
  version: "v1alpha1",
  kind: "AfxdpNetworkNodePolicy",
  plural: "afxdpnetworknodepolicies",
  namespaced: true,
  columns: [
    { name: "Pool", type: "string", jsonPath: ".spec.poolName" },
    { name: "Mode", type: "string", jsonPath: ".spec.mode" },
    { name: "SFs", type: "integer", jsonPath: ".spec.numSfs" },
    { name: "Priority", type: "integer", jsonPath: ".spec.priority" },
    { name: "MTU", type: "integer", jsonPath: ".spec.mtu", wide: true },
    { name: "Matched Nodes", type: "integer", jsonPath: ".status.matchedNodeCount" },
    { name: "Ready Nodes", type: "integer", jsonPath: ".status.readyNodeCount" },
    readyColumn,
    reasonColumn,
    ageColumn,
  ],
} as const satisfies CustomResource;

/**
 * AfxdpNetworkNodePolicy offers network interfaces of the matching nodes, or subfunctions of them, to pods that use AF_XDP.
 */
export interface AfxdpNetworkNodePolicy {
  readonly apiVersion: "afxdpnetwork.hns.dev/v1alpha1";
  readonly kind: "AfxdpNetworkNodePolicy";
  readonly metadata: ObjectMeta;
  /** Desired state of the devices. */
  readonly spec: AfxdpNetworkNodePolicySpec;
  /** Observed state of the policy, written by the operator. */
  readonly status?: AfxdpNetworkNodePolicyStatus;
}

/**
 * Desired state of an AfxdpNetworkNodePolicy.
 * @x-kubernetes-validations [{
 *   rule: "!has(self.mode) || self.mode != 'primary' || !has(self.numSfs) || self.numSfs == 0",
 *   message: "must be 0 or omitted with mode primary: subfunctions are offered with mode subfunction",
 *   fieldPath: ".numSfs",
 *   fields: ["mode", "numSfs"]
 * }, {
 *   rule: "!has(self.mode) || self.mode != 'subfunction' || (has(self.numSfs) && self.numSfs > 0)",
 *   message: "must be at least 1 with mode subfunction",
 *   fieldPath: ".numSfs",
 *   fields: ["mode", "numSfs"]
 * }, {
 *   rule: "!has(self.bridge) || (has(self.numSfs) && self.numSfs > 0)",
 *   message: "must be omitted unless numSfs is greater than 0: only subfunctions have representors",
 *   fieldPath: ".bridge",
 *   fields: ["bridge", "numSfs"]
 * }, {
 *   rule: "!has(self.bridge) || !has(self.externallyManaged) || !self.externallyManaged",
 *   message: "must be omitted with externallyManaged: another tool connects the representors",
 *   fieldPath: ".bridge",
 *   fields: ["bridge", "externallyManaged"]
 * }]
 */
export interface AfxdpNetworkNodePolicySpec extends AfxdpPoolSettings {
  /**
   * Name of the pool that the devices belong to: for "intelnics", pods request afxdp/intelnics. Pools whose names differ
   * only in case cannot be on the same node.
   */
  readonly poolName: AfxdpPoolName;
  /** Selects the nodes that have all of these labels with exactly these values. An empty map selects all nodes. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  /**
   * Priority of the policy if several policies select the same device: 0 is the highest, 99 the lowest. Among policies with
   * the same priority, the one whose name sorts last wins.
   * @asType integer
   * @default 99
   * @minimum 0
   * @maximum 99
   */
  readonly priority?: number;
  /** Selects the devices that match all of the fields that are set. At least one field must be set. */
  readonly nicSelector: AfxdpNicSelector;
  /**
   * Whether pods get the selected devices themselves (primary), which the host can then no longer use, or subfunctions of
   * them (subfunction). Default: subfunction if numSfs is greater than 0, otherwise primary.
   */
  readonly mode?: AfxdpMode;
  /**
   * Number of subfunctions to offer on each selected device. 0, the default, offers the devices themselves.
   * @asType integer
   * @minimum 0
   * @maximum 1024
   */
  readonly numSfs?: number;
  /**
   * Name of a bridge of Linux or Open vSwitch that a SriovNetworkNodePolicy has created on the node for another PF: "br-0000_3b_00.0".
   * The representors of the subfunctions become its ports, so that packets reach the subfunctions. By default, they are
   * connected to nothing.
   * @maxLength 15
   * @x-kubernetes-validations [{
   *   rule: "self.matches('^br-[0-9a-f]{4}_[0-9a-f]{2}_[0-9a-f]{2}[.][0-7]$')",
   *   message: "must be the name of a bridge of Switchyard, which has the PCI address of its PF: \"br-0000_3b_00.0\""
   * }]
   */
  readonly bridge?: string;
  /**
   * MTU of the devices, or of their subfunctions, in bytes. A lower MTU of a device with subfunctions is raised to this
   * value. By default, no MTU is changed.
   * @asType integer
   * @minimum 68
   * @maximum 65535
   */
  readonly mtu?: number;
  /**
   * Number of queues (combined channels) of each device. By default, the number is not changed.
   * @asType integer
   * @minimum 1
   * @maximum 1024
   */
  readonly queues?: number;
  /**
   * Maximum number of devices that the policy takes on each node. It keeps those that it has, and takes others in the order of
   * their PCI addresses. By default, all that nicSelector matches.
   * @asType integer
   * @minimum 1
   * @maximum 256
   */
  readonly maxDevices?: number;
  /**
   * Kind of driver of the devices. Only netdev is possible, which is also the default.
   * @maxLength 64
   * @x-kubernetes-validations [{
   *   rule: "self == 'netdev'",
   *   message: "must be netdev or omitted: AF_XDP uses the network driver of the kernel, and a device that is bound to vfio-pci has none"
   * }]
   */
  readonly deviceType?: string;
  /**
   * Whether another tool creates the subfunctions and configures the devices. If true, Switchyard changes nothing on the
   * devices and only offers what exists. Default: false.
   */
  readonly externallyManaged?: boolean;
}

/**
 * Selects devices. A device is selected if it matches all of the fields that are set.
 * @x-kubernetes-validations [{
 *   rule: "(has(self.vendor) && self.vendor != '') || (has(self.deviceID) && self.deviceID != '') || (has(self.driver) && self.driver != '') || (has(self.rootDevices) && size(self.rootDevices) > 0) || (has(self.pfNames) && size(self.pfNames) > 0) || (has(self.macAddresses) && size(self.macAddresses) > 0)",
 *   message: "must have at least one of vendor, deviceID, driver, rootDevices, pfNames and macAddresses: an empty nicSelector matches no device"
 * }]
 */
export interface AfxdpNicSelector {
  /**
   * PCI vendor ID of the device, in hexadecimal: "8086" is Intel, "15b3" is Mellanox.
   * @maxLength 64
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^[0-9a-f]{4}$')",
   *   message: "must be a PCI vendor ID, four hexadecimal digits in lower case: \"15b3\""
   * }]
   */
  readonly vendor?: string;
  /**
   * PCI device ID of the device, in hexadecimal: "1592".
   * @maxLength 64
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^[0-9a-f]{4}$')",
   *   message: "must be a PCI device ID, four hexadecimal digits in lower case: \"1592\""
   * }]
   */
  readonly deviceID?: string;
  /**
   * Name of the kernel driver of the device: "ice".
   * @maxLength 64
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^[a-zA-Z0-9_-]+$')",
   *   message: "must be the name of a kernel driver: \"ice\""
   * }]
   */
  readonly driver?: string;
  /**
   * PCI addresses of devices, for example "0000:86:00.0". A device matches if the list contains its address.
   * @maxItems 256
   */
  readonly rootDevices?: readonly RootDevice[];
  /**
   * Interface names or alternative names of devices. A device matches if the list contains one of its names.
   * @maxItems 256
   */
  readonly pfNames?: readonly AfxdpDeviceName[];
  /**
   * MAC addresses of devices. A device matches if the list contains its address.
   * @maxItems 256
   */
  readonly macAddresses?: readonly AfxdpMacAddress[];
}

/**
 * Name or alternative name of a network interface.
 * @maxLength 127
 * @x-kubernetes-validations [{
 *   rule: "self.matches('^[^#/\\\\s\\\\x00-\\\\x1f\\\\x7f]+$')",
 *   message: "must be the name of a network interface, without a range: \"ens1f0\""
 * }]
 */
export type AfxdpDeviceName = string;

/**
 * MAC address of a network interface.
 * @maxLength 64
 * @x-kubernetes-validations [{
 *   rule: "self.matches('^[0-9a-fA-F][02468aceACE](:[0-9a-fA-F]{2}){5}$')",
 *   message: "must be the MAC address of one network interface: \"0c:42:a1:16:05:4c\""
 * }]
 */
export type AfxdpMacAddress = string;

/** Observed state of an AfxdpNetworkNodePolicy. */
export interface AfxdpNetworkNodePolicyStatus extends ObjectStatus, NodeCounts {}
