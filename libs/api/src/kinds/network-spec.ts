// SPDX-License-Identifier: Apache-2.0
/**
 * NetworkSpec has the fields that all network kinds share; TrunkRange is used by OVSNetwork and BridgeNetwork
 * (sriov-operator.md A.1, A.2, A.3, cnis.md 1.2, 2.4). Fields that contain JSON are strings here; libs/render parses
 * them.
 */

/** Fields that all network kinds share. */
export interface NetworkSpec {
  /**
   * Namespace in which the operator creates the NetworkAttachmentDefinition. Default: the namespace of this object. May
   * be set only on objects in the operator's namespace.
   * @maxLength 63
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
   *   message: "must be the name of a namespace: lower-case letters, digits and \"-\", such as \"tenant-a\""
   * }]
   */
  readonly networkNamespace?: string;
  /**
   * Resource that pods of this network request: the resourceName of a SriovNetworkNodePolicy, without the resource
   * prefix.
   * @maxLength 63
   * @x-kubernetes-validations [{
   *   rule: "self == '' || self.matches('^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$')",
   *   message: "must be the resourceName of a SriovNetworkNodePolicy, without the resource prefix"
   * }]
   */
  readonly resourceName: string;
  /**
   * Capabilities of the CNI plugin that pods may use, as a JSON object: '{"mac": true, "ips": true}'. Default: none.
   * @maxLength 4096
   * @x-kubernetes-validations [{
   *   rule: "self == '' || (self.trim().startsWith('{') && self.trim().endsWith('}'))",
   *   message: "must be a JSON object: {\"mac\": true}"
   * }]
   */
  readonly capabilities?: string;
  /**
   * Configuration of IP address management, as a JSON object: '{"type": "host-local", "subnet": "10.56.0.0/16"}'. By
   * default, pods get no IP address.
   * @maxLength 131072
   * @x-kubernetes-validations [{
   *   rule: "self == '' || (self.trim().startsWith('{') && self.trim().endsWith('}'))",
   *   message: "must be a JSON object: {\"type\": \"host-local\", \"subnet\": \"10.56.0.0/16\"}"
   * }]
   */
  readonly ipam?: string;
  /**
   * Configurations of CNI plugins that run after this one, as JSON objects separated by commas:
   * '{"type": "tuning"}, {"type": "vrf"}'. Default: none.
   * @maxLength 131072
   * @x-kubernetes-validations [{
   *   rule: "self == '' || (self.trim().startsWith('{') && self.trim().endsWith('}'))",
   *   message: "must be JSON objects separated by commas, without surrounding brackets: {\"type\": \"tuning\"}, {\"type\": \"vrf\"}"
   * }]
   */
  readonly metaPlugins?: string;
}

/**
 * VLANs of a trunk port: either a single VLAN (id) or a range (minID and maxID).
 * @x-kubernetes-validations [{
 *   rule: "has(self.id) || (has(self.minID) && has(self.maxID))",
 *   message: "must have id for a single VLAN, or minID and maxID for a range"
 * }, {
 *   rule: "!has(self.minID) || !has(self.maxID) || (1 <= self.minID && self.minID <= self.maxID)",
 *   message: "must have a minID of at least 1 and a maxID that is not less than minID"
 * }]
 */
export interface TrunkRange {
  /**
   * First VLAN ID of a range.
   * @asType integer
   * @minimum 0
   * @maximum 4095
   */
  readonly minID?: number;
  /**
   * Last VLAN ID of a range, inclusive.
   * @asType integer
   * @minimum 0
   * @maximum 4095
   */
  readonly maxID?: number;
  /**
   * ID of a single VLAN.
   * @asType integer
   * @minimum 0
   * @maximum 4095
   */
  readonly id?: number;
}
