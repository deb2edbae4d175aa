// SPDX-License-Identifier: Apache-2.0
/**
 * SriovIBNetwork attaches pods to VFs of InfiniBand cards; its CNI plugin is ib-sriov (sriov-operator.md A.2,
 * cnis.md 7). In addition to upstream's fields it has three options of the plugin: pKey, rdmaIsolation and
 * ibKubernetesEnabled. The CRD's descriptions are generated from the JSDoc in this file: `npm run generate`.
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
 * SriovIBNetwork defines a network that pods join through a virtual function (VF) of an InfiniBand card. The operator
 * creates a NetworkAttachmentDefinition of the same name from it.
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
   * Desired state of the network.
   * @default { resourceName: "" }
   */
  // Go clients send this default for an absent spec, and upstream's CRDs accept it.
  readonly spec: SriovIBNetworkSpec;
  /** Observed state of the network, written by the operator. */
  readonly status?: ObjectStatus;
}

/**
 * Desired state of a SriovIBNetwork.
 * @x-kubernetes-validations [{
 *   rule: "!has(self.rdmaIsolation) || !self.rdmaIsolation || !has(self.metaPlugins) || !self.metaPlugins.matches('\"type\"[ \\t\\r\\n]*:[ \\t\\r\\n]*\"rdma\"')",
 *   message: "must not contain the plugin rdma if rdmaIsolation is true: rdmaIsolation already moves the RDMA device",
 *   fieldPath: ".metaPlugins",
 *   fields: ["rdmaIsolation", "metaPlugins"]
 * }]
 */
export interface SriovIBNetworkSpec extends NetworkSpec {
  /**
   * Capabilities of the CNI plugin that pods may use, as a JSON object: '{"infinibandGUID": true}'. Default: none.
   * @maxLength 4096
   * @x-kubernetes-validations [{
   *   rule: "self == '' || (self.trim().startsWith('{') && self.trim().endsWith('}'))",
   *   message: "must be a JSON object: {\"infinibandGUID\": true}"
   * }]
   */
  readonly capabilities?: string;
  /**
   * Link state of the VF: that of the PF (auto), always up (enable), or always down (disable). By default, the setting
   * is left unchanged.
   */
  readonly linkState?: "auto" | "enable" | "disable";
  /**
   * Partition key (15 bits, in hexadecimal, for example "0x7fff") of the InfiniBand partition to which ib-kubernetes
   * adds the VF's GUID. Default: none.
   * @maxLength 64
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^0[xX][0-7]?[0-9a-fA-F]{1,3}$')",
   *   message: "must be a partition key in hexadecimal, from \"0x0\" to \"0x7fff\""
   * }]
   */
  readonly pKey?: string;
  /**
   * Whether to also move the VF's RDMA device into the pod. Default: false. Requires a SriovNetworkPoolConfig with
   * rdmaMode exclusive, and metaPlugins without the plugin rdma.
   */
  readonly rdmaIsolation?: boolean;
  /** Whether the plugin waits until ib-kubernetes has assigned a GUID to the pod. Default: false. */
  readonly ibKubernetesEnabled?: boolean;
}
