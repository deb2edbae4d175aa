// SPDX-License-Identifier: Apache-2.0
/**
 * OVSNetwork: pods get VFs whose representors are ports of an Open vSwitch bridge, by the CNI plugin ovs
 * (sriov-operator.md A.3, cnis.md 1). The JSDoc here is the CRD's text: `npm run generate`.
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
 * A network that pods join with a virtual function (VF) behind an Open vSwitch bridge.
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
   * What is wanted.
   * @default { resourceName: "" }
   */
  // The default is what Go clients make of an absent spec, which upstream's CRDs accept.
  readonly spec: OVSNetworkSpec;
  /** What became of it. */
  readonly status?: ObjectStatus;
}

/** What is wanted. */
export interface OVSNetworkSpec extends NetworkSpec {
  /**
   * Name of the bridge; absent is the one that has the VF's PF as its uplink.
   * @maxLength 256
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^[^ /]{1,15}$')",
   *   message: "must be the name of a bridge, of at most 15 characters"
   * }]
   */
  readonly bridge?: string;
  /**
   * VLAN of the port. Absent or 0, and without trunk, the port takes frames of all VLANs.
   * @asType integer
   * @minimum 0
   * @maximum 4095
   */
  readonly vlan?: number;
  /**
   * MTU of the VF and its representor in bytes; absent or 0 leaves it as it is.
   * @asType integer
   * @minimum 0
   * @maximum 65535
   */
  readonly mtu?: number;
  /**
   * VLANs of a trunk port. With any, vlan has no effect.
   * @maxItems 4096
   */
  readonly trunk?: readonly TrunkRange[];
  /** Type of the port's interface in Open vSwitch: "dpdk" for example; absent is an interface of the kernel. */
  readonly interfaceType?: string;
}
