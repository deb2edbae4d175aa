// SPDX-License-Identifier: Apache-2.0
/**
 * What the specs of all network kinds have in common, and the ranges of VLANs that two of them take
 * (sriov-operator.md A.1-A.3, cnis.md 1.2, 2.4). Texts that hold JSON stay texts here: libs/render parses them.
 */

/** What every network kind has. */
export interface NetworkSpec {
  /**
   * Namespace of the NetworkAttachmentDefinition; absent is the network's own. A network outside of the operator's
   * namespace must leave it out.
   * @maxLength 63
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
   *   message: "must be the name of a namespace: lower-case letters, digits and \"-\", such as \"tenant-a\""
   * }]
   */
  readonly networkNamespace?: string;
  /**
   * Resource that the pods of this network request, without its prefix: resourceName of a SriovNetworkNodePolicy.
   * @maxLength 63
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$')",
   *   message: "must be the resourceName of a SriovNetworkNodePolicy, without the prefix that pods write before it"
   * }]
   */
  readonly resourceName: string;
  /**
   * What pods may ask the plugin for, as a JSON object: '{"mac": true, "ips": true}'.
   * @maxLength 4096
   * @x-kubernetes-validations [{
   *   rule: "self == '' || (self.trim().startsWith('{') && self.trim().endsWith('}'))",
   *   message: "must be a JSON object: {\"mac\": true}"
   * }]
   */
  readonly capabilities?: string;
  /**
   * IP address management, as a JSON object: '{"type": "host-local", "subnet": "10.56.0.0/16"}'. Absent: no addresses.
   * @maxLength 131072
   * @x-kubernetes-validations [{
   *   rule: "self == '' || (self.trim().startsWith('{') && self.trim().endsWith('}'))",
   *   message: "must be a JSON object: {\"type\": \"host-local\", \"subnet\": \"10.56.0.0/16\"}"
   * }]
   */
  readonly ipam?: string;
  /**
   * Plugins that run after this one, as JSON objects with commas between them: '{"type": "tuning"}, {"type": "vrf"}'.
   * @maxLength 131072
   * @x-kubernetes-validations [{
   *   rule: "self == '' || (self.trim().startsWith('{') && self.trim().endsWith('}'))",
   *   message: "must be JSON objects with commas between them, without brackets around: {\"type\": \"tuning\"}, {\"type\": \"vrf\"}"
   * }]
   */
  readonly metaPlugins?: string;
}

/**
 * VLANs of a trunk port: one by id, or a range by both ends.
 * @x-kubernetes-validations [{
 *   rule: "has(self.id) || (has(self.minID) && has(self.maxID))",
 *   message: "must have id for a single VLAN, or minID and maxID for a range"
 * }, {
 *   rule: "!has(self.minID) || !has(self.maxID) || (1 <= self.minID && self.minID <= self.maxID)",
 *   message: "must be a range from minID, at least 1, to a maxID that is not lower"
 * }]
 */
export interface TrunkRange {
  /**
   * First VLAN of a range.
   * @asType integer
   * @minimum 0
   * @maximum 4095
   */
  readonly minID?: number;
  /**
   * Last VLAN of a range, included.
   * @asType integer
   * @minimum 0
   * @maximum 4095
   */
  readonly maxID?: number;
  /**
   * A single VLAN.
   * @asType integer
   * @minimum 0
   * @maximum 4095
   */
  readonly id?: number;
}
