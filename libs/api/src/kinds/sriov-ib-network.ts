// SPDX-License-Identifier: Apache-2.0
/**
 * SriovIBNetwork: pods get VFs of InfiniBand cards by the CNI plugin ib-sriov (sriov-operator.md A.2, cnis.md 7). Beyond
 * upstream it passes on what the plugin takes: pKey, rdmaIsolation, ibKubernetesEnabled.
 * The JSDoc here is the CRD's text: `npm run generate`.
 */
import { ageColumn, readyColumn, reasonColumn, type CustomResource } from "./custom-resource.ts";
import type { ObjectMeta, ObjectStatus } from "../kubernetes/metadata.ts";
import type { NetworkSpec } from "./network-spec.ts";

export const sriovIBNetworks = {
  group: "sriovnetwork.openshift.io",
  version: "v1",
  kind: "SriovIBNetwork",
  plural: "sriovibnetworks",
  namespaced: true,
  columns: [
    { name: "Resource", type: "string", jsonPath: ".spec.resourceName" },
    { name: "Network Namespace", type: "string", jsonPath: ".spec.networkNamespace" },
    { name: "PKey", type: "string", jsonPath: ".spec.pKey", wide: true },
    readyColumn,
    reasonColumn,
    ageColumn,
  ],
} as const satisfies CustomResource;

/**
 * A network that pods join with a virtual function (VF) of an InfiniBand card.
 * @x-kubernetes-validations [{
 *   rule: "self.spec.resourceName != ''",
 *   message: "must not be empty: the resourceName of a SriovNetworkNodePolicy",
 *   fieldPath: ".spec.resourceName",
 *   reason: "FieldValueRequired",
 *   fields: ["spec.resourceName"]
 * }]
 */
export interface SriovIBNetwork {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "SriovIBNetwork";
  readonly metadata: ObjectMeta;
  /**
   * What is wanted.
   * @default { resourceName: "" }
   */
  // The default is what Go clients make of an absent spec, which upstream's CRDs accept.
  readonly spec: SriovIBNetworkSpec;
  /** What became of it. */
  readonly status?: ObjectStatus;
}

/**
 * What is wanted.
 * @x-kubernetes-validations [{
 *   rule: "!has(self.rdmaIsolation) || !self.rdmaIsolation || !has(self.metaPlugins) || !self.metaPlugins.matches('\"type\"[ \\t\\r\\n]*:[ \\t\\r\\n]*\"rdma\"')",
 *   message: "rdmaIsolation moves the RDMA device already: take the plugin rdma out",
 *   fieldPath: ".metaPlugins",
 *   fields: ["rdmaIsolation", "metaPlugins"]
 * }]
 */
export interface SriovIBNetworkSpec extends NetworkSpec {
  /**
   * What pods may ask the plugin for, as a JSON object: '{"infinibandGUID": true}'.
   * @maxLength 4096
   * @x-kubernetes-validations [{
   *   rule: "self == '' || (self.trim().startsWith('{') && self.trim().endsWith('}'))",
   *   message: "must be a JSON object: {\"infinibandGUID\": true}"
   * }]
   */
  readonly capabilities?: string;
  /** Link that the VF sees: as the cable is (auto), always up (enable), always down (disable). */
  readonly linkState?: "auto" | "enable" | "disable";
  /**
   * Partition of the fabric that ib-kubernetes puts the VF's GUID into, 15 bits in hexadecimal: "0x7fff".
   * @maxLength 64
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^0[xX][0-7]?[0-9a-fA-F]{1,3}$')",
   *   message: "must be a partition key in hexadecimal, from \"0x0\" to \"0x7fff\""
   * }]
   */
  readonly pKey?: string;
  /** Move the VF's RDMA device into the pod as well. Needs a pool with rdmaMode exclusive; not together with the plugin rdma. */
  readonly rdmaIsolation?: boolean;
  /** Wait until ib-kubernetes has given the pod its GUID. */
  readonly ibKubernetesEnabled?: boolean;
}
