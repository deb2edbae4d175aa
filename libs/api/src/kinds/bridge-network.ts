// SPDX-License-Identifier: Apache-2.0
/**
 * BridgeNetwork: pods get VFs whose representors are ports of a Linux bridge, by the CNI plugin accelerated-bridge
 * (the proposal on software bridges, "BridgeNetwork CRD"; cnis.md 2). Upstream never built it.
 * The JSDoc here is the CRD's text: `npm run generate`.
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
 * A network that pods join with a virtual function (VF) behind a Linux bridge.
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
   * What is wanted.
   * @default { resourceName: "" }
   */
  // The default is what Go clients make of an absent spec, which upstream's CRDs accept.
  readonly spec: BridgeNetworkSpec;
  /** What became of it. */
  readonly status?: ObjectStatus;
}

/** What is wanted. */
export interface BridgeNetworkSpec extends NetworkSpec {
  /**
   * Name of the bridge. Of several, with commas between them, it is the one that has the VF's PF as its uplink. Absent: of
   * all bridges that policies make for this resource.
   * @maxLength 1024
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^ *[^ ,/]{1,15}( *, *[^ ,/]{1,15})* *$')",
   *   message: "must be names of bridges, each of at most 15 characters, with commas between them: \"br0,br1\""
   * }]
   */
  readonly bridge?: string;
  /**
   * VLAN of the VF, without a tag on its own side; 0 is none.
   * @asType integer
   * @minimum 0
   * @maximum 4094
   */
  readonly vlan?: number;
  /**
   * VLANs that the VF sends and receives with a tag, beside vlan: 1 to 4094.
   * @maxItems 4096
   * @x-kubernetes-validations [{
   *   rule: "self.all(r, (!has(r.id) || (1 <= r.id && r.id <= 4094)) && (!has(r.maxID) || r.maxID <= 4094))",
   *   message: "must be VLANs from 1 to 4094"
   * }]
   */
  readonly trunk?: readonly TrunkRange[];
  /** Also put the PF, as the bridge's uplink, into the VLANs of the VF. */
  readonly setUplinkVlan?: boolean;
  /**
   * MTU of the VF and its representor in bytes; absent or 0 leaves it as it is.
   * @asType integer
   * @minimum 0
   * @maximum 65535
   */
  readonly mtu?: number;
}
