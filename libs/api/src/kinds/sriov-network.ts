// SPDX-License-Identifier: Apache-2.0
/**
 * SriovNetwork: pods get VFs of Ethernet cards by the CNI plugin sriov (sriov-operator.md A.1, cnis.md 7).
 * The JSDoc here is the CRD's text: `npm run generate`.
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
 * A network that pods join with a virtual function (VF) of an Ethernet card.
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
   * What is wanted.
   * @default { resourceName: "" }
   */
  // The default is what Go clients make of an absent spec, which upstream's CRDs accept.
  readonly spec: SriovNetworkSpec;
  /** What became of it. */
  readonly status?: ObjectStatus;
}

/**
 * What is wanted.
 * @x-kubernetes-validations [{
 *   rule: "!has(self.vlanQoS) || self.vlanQoS == 0 || (has(self.vlan) && self.vlan != 0)",
 *   message: "needs a vlan from 1 to 4094",
 *   fieldPath: ".vlanQoS",
 *   fields: ["vlan", "vlanQoS"]
 * }, {
 *   rule: "!has(self.vlanProto) || !(self.vlanProto in ['802.1ad', '802.1AD']) || (has(self.vlan) && self.vlan != 0)",
 *   message: "802.1ad needs a vlan from 1 to 4094",
 *   fieldPath: ".vlanProto",
 *   fields: ["vlan", "vlanProto"]
 * }, {
 *   rule: "!has(self.minTxRate) || !has(self.maxTxRate) || self.maxTxRate == 0 || self.minTxRate <= self.maxTxRate",
 *   message: "must not be above maxTxRate",
 *   fieldPath: ".minTxRate",
 *   fields: ["minTxRate", "maxTxRate"]
 * }]
 */
export interface SriovNetworkSpec extends NetworkSpec {
  /**
   * VLAN that the card puts the VF into; 0 is none.
   * @asType integer
   * @minimum 0
   * @maximum 4094
   */
  readonly vlan?: number;
  /**
   * Priority of the VLAN's frames. Needs a vlan.
   * @asType integer
   * @minimum 0
   * @maximum 7
   */
  readonly vlanQoS?: number;
  /** Tag of the VLAN: 802.1q, also when absent, or 802.1ad, the outer tag of two, which needs a vlan. */
  readonly vlanProto?: "802.1q" | "802.1Q" | "802.1ad" | "802.1AD";
  /** Whether the card drops frames of the VF that are not from its own MAC address. Absent leaves it as it is. */
  readonly spoofChk?: "on" | "off";
  /** Whether the VF may change its MAC address and go into promiscuous mode. Absent leaves it as it is. */
  readonly trust?: "on" | "off";
  /** Link that the VF sees: as the cable is (auto), always up (enable), always down (disable). */
  readonly linkState?: "auto" | "enable" | "disable";
  /**
   * Least rate of sending in Mbit/s; 0 is no guarantee. Absent leaves it as it is.
   * @asType integer
   * @minimum 0
   */
  readonly minTxRate?: number;
  /**
   * Highest rate of sending in Mbit/s; 0 is no limit. Absent leaves it as it is.
   * @asType integer
   * @minimum 0
   */
  readonly maxTxRate?: number;
  /**
   * What the CNI plugin logs at least.
   * @default info
   */
  readonly logLevel?: "panic" | "error" | "warning" | "info" | "debug" | "";
  /** File on the node that the CNI plugin logs to; absent is its standard error, which the container runtime shows. */
  readonly logFile?: string;
}
