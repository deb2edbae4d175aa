// SPDX-License-Identifier: Apache-2.0
/**
 * SriovNetwork attaches pods to VFs of Ethernet cards; its CNI plugin is sriov (sriov-operator.md A.1, cnis.md 7).
 * The CRD's descriptions are generated from the JSDoc in this file: `npm run generate`.
 */
import { ageColumn, readyColumn, reasonColumn, type CustomResource } from "./custom-resource.ts";
import type { ObjectMeta, ObjectStatus } from "../kubernetes/metadata.ts";
import type { NetworkSpec } from "./network-spec.ts";

export const sriovNetworks = {
  group: "sriovnetwork.openshift.io",
  version: "v1",
  kind: "SriovNetwork",
  plural: "sriovnetworks",
  namespaced: true,
  columns: [
    { name: "Resource", type: "string", jsonPath: ".spec.resourceName" },
    { name: "Network Namespace", type: "string", jsonPath: ".spec.networkNamespace" },
    { name: "VLAN", type: "integer", jsonPath: ".spec.vlan", wide: true },
    readyColumn,
    reasonColumn,
    ageColumn,
  ],
} as const satisfies CustomResource;

/**
 * SriovNetwork defines a network that pods join through a virtual function (VF) of an Ethernet card. The operator
 * creates a NetworkAttachmentDefinition of the same name from it.
 * @x-kubernetes-validations [{
 *   rule: "self.spec.resourceName != ''",
 *   message: "must not be empty: the resourceName of a SriovNetworkNodePolicy",
 *   fieldPath: ".spec.resourceName",
 *   reason: "FieldValueRequired",
 *   fields: ["spec.resourceName"]
 * }]
 */
export interface SriovNetwork {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "SriovNetwork";
  readonly metadata: ObjectMeta;
  /**
   * Desired state of the network.
   * @default { resourceName: "" }
   */
  // Go clients send this default for an absent spec, and upstream's CRDs accept it.
  readonly spec: SriovNetworkSpec;
  /** Observed state of the network, written by the operator. */
  readonly status?: ObjectStatus;
}

/**
 * Desired state of a SriovNetwork.
 * @x-kubernetes-validations [{
 *   rule: "!has(self.vlanQoS) || self.vlanQoS == 0 || (has(self.vlan) && self.vlan != 0)",
 *   message: "requires vlan to be from 1 to 4094",
 *   fieldPath: ".vlanQoS",
 *   fields: ["vlan", "vlanQoS"]
 * }, {
 *   rule: "!has(self.vlanProto) || !(self.vlanProto in ['802.1ad', '802.1AD']) || (has(self.vlan) && self.vlan != 0)",
 *   message: "802.1ad requires vlan to be from 1 to 4094",
 *   fieldPath: ".vlanProto",
 *   fields: ["vlan", "vlanProto"]
 * }, {
 *   rule: "!has(self.minTxRate) || !has(self.maxTxRate) || self.maxTxRate == 0 || self.minTxRate <= self.maxTxRate",
 *   message: "must not be greater than maxTxRate",
 *   fieldPath: ".minTxRate",
 *   fields: ["minTxRate", "maxTxRate"]
 * }]
 */
export interface SriovNetworkSpec extends NetworkSpec {
  /**
   * VLAN ID that the card assigns to the VF's traffic. 0, the default, means no VLAN.
   * @asType integer
   * @minimum 0
   * @maximum 4094
   */
  readonly vlan?: number;
  /**
   * Priority (802.1p) of the VF's VLAN frames. Default: 0. A value other than 0 requires vlan.
   * @asType integer
   * @minimum 0
   * @maximum 7
   */
  readonly vlanQoS?: number;
  /** VLAN protocol: 802.1q, the default, or 802.1ad, the outer tag of a double-tagged frame. 802.1ad requires vlan. */
  readonly vlanProto?: "802.1q" | "802.1Q" | "802.1ad" | "802.1AD";
  /**
   * Whether the card drops frames that the VF sends with a source MAC address other than its own. By default, the
   * setting is left unchanged.
   */
  readonly spoofChk?: "on" | "off";
  /**
   * Whether the VF may change its MAC address and use promiscuous mode. By default, the setting is left unchanged.
   */
  readonly trust?: "on" | "off";
  /**
   * Link state of the VF: that of the PF (auto), always up (enable), or always down (disable). By default, the setting
   * is left unchanged.
   */
  readonly linkState?: "auto" | "enable" | "disable";
  /**
   * Guaranteed transmit rate of the VF in Mbit/s; 0 means no guarantee. By default, the setting is left unchanged.
   * @asType integer
   * @minimum 0
   */
  readonly minTxRate?: number;
  /**
   * Maximum transmit rate of the VF in Mbit/s; 0 means no limit. By default, the setting is left unchanged.
   * @asType integer
   * @minimum 0
   */
  readonly maxTxRate?: number;
  /**
   * Lowest severity that the CNI plugin logs.
   * @default info
   */
  readonly logLevel?: "panic" | "error" | "warning" | "info" | "debug" | "";
  /**
   * File on the node that the CNI plugin writes its log to. By default, standard error, which the container runtime
   * logs.
   */
  readonly logFile?: string;
}
