// SPDX-License-Identifier: Apache-2.0
/**
 * SriovNetworkPoolConfig: settings that a set of nodes shares: how many may be disturbed at once, and the RDMA mode
 * (sriov-operator.md A.7). The JSDoc here is the CRD's text: `npm run generate`.
 */
import { ageColumn, readyColumn, reasonColumn, type CustomResource } from "./custom-resource.ts";
import type { LabelSelector, NodeCounts, ObjectMeta, ObjectStatus } from "../kubernetes/metadata.ts";

export const sriovNetworkPoolConfigs = {
  group: "sriovnetwork.openshift.io",
  version: "v1",
  kind: "SriovNetworkPoolConfig",
  plural: "sriovnetworkpoolconfigs",
  namespaced: true,
  columns: [
    { name: "Max Unavailable", type: "string", jsonPath: ".spec.maxUnavailable" },
    { name: "RDMA Mode", type: "string", jsonPath: ".spec.rdmaMode", wide: true },
    { name: "Matched Nodes", type: "integer", jsonPath: ".status.matchedNodeCount" },
    { name: "Ready Nodes", type: "integer", jsonPath: ".status.readyNodeCount" },
    readyColumn,
    reasonColumn,
    ageColumn,
  ],
} as const satisfies CustomResource;

/** Settings that a set of nodes shares: how many may be drained at once, and how they treat RDMA devices. */
export interface SriovNetworkPoolConfig {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "SriovNetworkPoolConfig";
  readonly metadata: ObjectMeta;
  /** What is wanted. */
  readonly spec?: SriovNetworkPoolConfigSpec;
  /** What became of it. */
  readonly status?: SriovNetworkPoolConfigStatus;
}

/**
 * What is wanted.
 * @x-kubernetes-validations [{
 *   rule: "!has(self.ovsHardwareOffloadConfig) || !has(self.ovsHardwareOffloadConfig.name) || self.ovsHardwareOffloadConfig.name == '' || ((!has(self.nodeSelector) || (!has(self.nodeSelector.matchLabels) && !has(self.nodeSelector.matchExpressions))) && !has(self.maxUnavailable))",
 *   message: "must stand alone: its nodes are those of the MachineConfigPool, so leave out nodeSelector and maxUnavailable",
 *   fieldPath: ".ovsHardwareOffloadConfig",
 *   fields: ["ovsHardwareOffloadConfig", "nodeSelector", "maxUnavailable"]
 * }]
 */
export interface SriovNetworkPoolConfigSpec {
  /** OpenShift only: hardware offload of Open vSwitch on a MachineConfigPool. Not together with other fields. */
  readonly ovsHardwareOffloadConfig?: OvsHardwareOffloadConfig;
  /**
   * Nodes of the pool; absent or empty selects all. A node shall be in one pool only. Nodes in none form a pool of their
   * own, in which one is drained at a time.
   * @x-kubernetes-map-type atomic
   */
  readonly nodeSelector?: LabelSelector;
  /**
   * How many nodes of the pool may be drained at once: a number, or a share such as "25%". Absent: no limit. 0 holds all
   * drains until it is raised.
   * @maxLength 64
   * @x-kubernetes-validations [{
   *   rule: "type(self) == int ? self >= 0 : self.matches('^0*([1-9][0-9]?|100)%$')",
   *   message: "must be a number from 0, or a share from \"1%\" to \"100%\""
   * }]
   */
  readonly maxUnavailable?: number | string;
  /**
   * Whether RDMA devices are seen in all network namespaces (shared) or in one each (exclusive). Nodes in another mode report
   * it: their mode is not changed yet.
   */
  readonly rdmaMode?: "shared" | "exclusive";
}

/** Hardware offload of Open vSwitch on OpenShift. */
export interface OvsHardwareOffloadConfig {
  /**
   * Name of the MachineConfigPool.
   * @maxLength 253
   */
  readonly name?: string;
}

/** What became of it. */
export interface SriovNetworkPoolConfigStatus extends ObjectStatus, NodeCounts {
  /**
   * Nodes that hold a slot of maxUnavailable: other nodes wait until they are released. In the order in which they took it;
   * the first 100 of them.
   * @x-kubernetes-list-type atomic
   */
  readonly drainingNodes?: readonly DrainingNode[];
}

/** A node that holds a slot. */
export interface DrainingNode {
  /** Name of the node. */
  readonly node: string;
  /** Draining while pods leave it, DrainComplete once they have left and its daemon is at work. */
  readonly state: string;
  /**
   * Since when it is in this state.
   * @format date-time
   */
  readonly since?: string;
}
