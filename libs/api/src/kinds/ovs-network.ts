// SPDX-License-Identifier: Apache-2.0
/**
 * OVSNetwork attaches pods to an Open vSwitch bridge through VF representors; its CNI plugin is ovs
 * (sriov-operator.md A.3, cnis.md 1).
 * The CRD's descriptions are generated from the JSDoc in this file: `npm run generate`.
 */
import { ageColumn, readyColumn, reasonColumn, type CustomResource } from "./custom-resource.ts";
import type { ObjectMeta, ObjectStatus } from "../kubernetes/metadata.ts";
import type { NetworkSpec, TrunkRange } from "./network-spec.ts";

export const ovsNetworks = {
  group: "sriovnetwork.openshift.io",
  version: "v1",
  kind: "OVSNetwork",
  plural: "ovsnetworks",
  namespaced: true,
  columns: [
    { name: "Resource", type: "string", jsonPath: ".spec.resourceName" },
    { name: "Network Namespace", type: "string", jsonPath: ".spec.networkNamespace" },
    { name: "Bridge", type: "string", jsonPath: ".spec.bridge", wide: true },
    readyColumn,
    reasonColumn,
    ageColumn,
  ],
} as const satisfies CustomResource;

/**
 * OVSNetwork defines a network that pods join through a virtual function (VF) whose representor is a port of an Open
 * vSwitch bridge. The operator creates a NetworkAttachmentDefinition of the same name from it.
 * @x-kubernetes-validations [{
 *   rule: "self.spec.resourceName != ''",
 *   message: "must not be empty: the resourceName of a SriovNetworkNodePolicy",
 *   fieldPath: ".spec.resourceName",
 *   reason: "FieldValueRequired",
 *   fields: ["spec.resourceName"]
 * }]
 */
export interface OVSNetwork {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "OVSNetwork";
  readonly metadata: ObjectMeta;
  /**
   * Desired state of the network.
   * @default { resourceName: "" }
   */
  // Go clients send this default for an absent spec, and upstream's CRDs accept it.
  readonly spec: OVSNetworkSpec;
  /** Observed state of the network, written by the operator. */
  readonly status?: ObjectStatus;
}

/** Desired state of an OVSNetwork. */
export interface OVSNetworkSpec extends NetworkSpec {
  /**
   * Name of the Open vSwitch bridge. By default, the bridge whose uplink is the VF's PF.
   * @maxLength 256
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^[^ /]{1,15}$')",
   *   message: "must be the name of a bridge, of at most 15 characters"
   * }]
   */
  readonly bridge?: string;
  /**
   * VLAN ID of the port. With 0, the default, and without trunk, the port carries all VLANs.
   * @asType integer
   * @minimum 0
   * @maximum 4095
   */
  readonly vlan?: number;
  /**
   * MTU of the VF and its representor in bytes. 0, the default, leaves the MTU unchanged.
   * @asType integer
   * @minimum 0
   * @maximum 65535
   */
  readonly mtu?: number;
  /**
   * VLANs of a trunk port. If this list is not empty, vlan has no effect.
   * @maxItems 4096
   */
  readonly trunk?: readonly TrunkRange[];
  /** Open vSwitch interface type of the port, for example "dpdk". By default, a kernel interface. */
  readonly interfaceType?: string;
}
