// SPDX-License-Identifier: Apache-2.0
/**
 * BridgeNetwork attaches pods to a Linux bridge through VF representors; its CNI plugin is accelerated-bridge
 * (cnis.md 2). The kind follows upstream's proposal on software bridges, which upstream has not implemented. The CRD's
 * descriptions are generated from the JSDoc in this file: `npm run generate`.
 */
import { ageColumn, readyColumn, reasonColumn, type CustomResource } from "./custom-resource.ts";
import type { ObjectMeta, ObjectStatus } from "../kubernetes/metadata.ts";
import type { NetworkSpec, TrunkRange } from "./network-spec.ts";

export const bridgeNetworks = {
  group: "sriovnetwork.openshift.io",
  version: "v1",
  kind: "BridgeNetwork",
  plural: "bridgenetworks",
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
 * BridgeNetwork defines a network that pods join through a virtual function (VF) whose representor is a port of a Linux
 * bridge. The operator creates a NetworkAttachmentDefinition of the same name from it.
 * @x-kubernetes-validations [{
 *   rule: "self.spec.resourceName != ''",
 *   message: "must not be empty: the resourceName of a SriovNetworkNodePolicy",
 *   fieldPath: ".spec.resourceName",
 *   reason: "FieldValueRequired",
 *   fields: ["spec.resourceName"]
 * }]
 */
export interface BridgeNetwork {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "BridgeNetwork";
  readonly metadata: ObjectMeta;
  /**
   * Desired state of the network.
   * @default { resourceName: "" }
   */
  // Go clients send this default for an absent spec, and upstream's CRDs accept it.
  readonly spec: BridgeNetworkSpec;
  /** Observed state of the network, written by the operator. */
  readonly status?: ObjectStatus;
}

/** Desired state of a BridgeNetwork. */
export interface BridgeNetworkSpec extends NetworkSpec {
  /**
   * Name of the Linux bridge, or several names separated by commas; the plugin then uses the bridge whose uplink is the
   * VF's PF. By default, all Linux bridges that policies create for PFs with this resource.
   * @maxLength 1024
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^ *[^ ,/]{1,15}( *, *[^ ,/]{1,15})* *$')",
   *   message: "must be names of bridges, each of at most 15 characters, separated by commas: \"br0,br1\""
   * }]
   */
  readonly bridge?: string;
  /**
   * VLAN ID of the VF's untagged traffic. 0, the default, means no VLAN.
   * @asType integer
   * @minimum 0
   * @maximum 4094
   */
  readonly vlan?: number;
  /**
   * VLANs, from 1 to 4094, whose frames the VF sends and receives tagged, in addition to vlan.
   * @maxItems 4096
   * @x-kubernetes-validations [{
   *   rule: "self.all(r, (!has(r.id) || (1 <= r.id && r.id <= 4094)) && (!has(r.maxID) || r.maxID <= 4094))",
   *   message: "must be VLANs from 1 to 4094"
   * }]
   */
  readonly trunk?: readonly TrunkRange[];
  /** Whether to also add the VF's VLANs to the bridge's uplink, the PF. Default: false. */
  readonly setUplinkVlan?: boolean;
  /**
   * MTU of the VF and its representor in bytes. 0, the default, leaves the MTU unchanged.
   * @asType integer
   * @minimum 0
   * @maximum 65535
   */
  readonly mtu?: number;
}
