// SPDX-License-Identifier: Apache-2.0
/**
 * AfxdpNetwork attaches pods to a network through AF_XDP devices (eve-and-afxdp.md b2, b4). The CRD's descriptions are
 * generated from the JSDoc in this file: `npm run generate`.
 */
import type { ObjectMeta, ObjectStatus } from "../../kubernetes/metadata.ts";
import { ageColumn, readyColumn, reasonColumn, type CustomResource } from "../custom-resource.ts";
import type { NetworkSpec } from "../network-spec.ts";
import type { AfxdpMode, AfxdpPoolName } from "./afxdp-pool.ts";

export const afxdpNetworks = {
  group: "afxdpnetwork.hns.dev",
  version: "v1alpha1",
  kind: "AfxdpNetwork",
  plural: "afxdpnetworks",
  namespaced: true,
  columns: [
    { name: "Pool", type: "string", jsonPath: ".spec.poolName" },
    { name: "Network Namespace", type: "string", jsonPath: ".spec.networkNamespace" },
    readyColumn,
    reasonColumn,
    ageColumn,
  ],
} as const satisfies CustomResource;

/**
 * AfxdpNetwork defines a network that pods join through an AF_XDP device. The operator creates a
 * NetworkAttachmentDefinition of the same name from it.
 */
export interface AfxdpNetwork {
  readonly apiVersion: "afxdpnetwork.hns.dev/v1alpha1";
  readonly kind: "AfxdpNetwork";
  readonly metadata: ObjectMeta;
  /** Desired state of the network. */
  readonly spec: AfxdpNetworkSpec;
  /** Observed state of the network, written by the operator. */
  readonly status?: ObjectStatus;
}

/** Desired state of an AfxdpNetwork. */
export interface AfxdpNetworkSpec extends Omit<NetworkSpec, "resourceName"> {
  /**
   * Pool whose devices pods of this network get: the poolName of an AfxdpNetworkNodePolicy. Pods request afxdp/POOL, and
   * name the network once for each device. Devices that are not on the PCI bus, such as veth, must have the same name on all
   * nodes, one on each node.
   */
  readonly poolName: AfxdpPoolName;
  /** Mode of the pool. Provider upstream offers pools of mode primary only. Default: primary. */
  readonly mode?: AfxdpMode;
  /**
   * Arguments of ethtool commands that upstream's CNI plugin runs for the device, with "-device-" for its name and "-ip-"
   * for its IP address: "-X -device- equal 5 start 3". Requires provider upstream. Default: none.
   * @maxItems 32
   */
  readonly ethtoolCmds?: readonly AfxdpEthtoolCommand[];
}

/**
 * Arguments of an ethtool command.
 * @maxLength 256
 * @x-kubernetes-validations [{
 *   rule: "self.matches('^[a-zA-Z0-9:./ -]+$')",
 *   message: "must consist of letters, digits, spaces, \"-\", \":\", \".\" and \"/\": \"-X -device- equal 5 start 3\""
 * }]
 */
export type AfxdpEthtoolCommand = string;
