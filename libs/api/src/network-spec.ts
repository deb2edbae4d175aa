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
   */
  readonly networkNamespace?: string;
  /** Resource that the pods of this network request, without its prefix: resourceName of a SriovNetworkNodePolicy. */
  readonly resourceName: string;
  /** What pods may ask the plugin for, as a JSON object: '{"mac": true, "ips": true}'. */
  readonly capabilities?: string;
  /** IP address management, as a JSON object: '{"type": "host-local", "subnet": "10.56.0.0/16"}'. Absent: no addresses. */
  readonly ipam?: string;
  /** Plugins that run after this one, as JSON objects with commas between them: '{"type": "tuning"}, {"type": "vrf"}'. */
  readonly metaPlugins?: string;
}

/** VLANs of a trunk port: one by id, or a range by both ends. */
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
