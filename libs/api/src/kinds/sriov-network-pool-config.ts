// SPDX-License-Identifier: Apache-2.0
/**
 * SriovNetworkPoolConfig has the settings of a pool of nodes: how many of them may be drained at once, and the RDMA
 * mode (sriov-operator.md A.7). The CRD's descriptions are generated from the JSDoc in this file: `npm run generate`.
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

/**
 * SriovNetworkPoolConfig has the settings of a pool of nodes: how many of them may be drained at once, and the RDMA
 * mode.
 */
export interface SriovNetworkPoolConfig {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "SriovNetworkPoolConfig";
  readonly metadata: ObjectMeta;
  /** Desired state of the pool. */
  readonly spec?: SriovNetworkPoolConfigSpec;
  /** Observed state of the pool, written by the operator. */
  readonly status?: SriovNetworkPoolConfigStatus;
}

/**
 * Desired state of a SriovNetworkPoolConfig.
 * @x-kubernetes-validations [{
 *   rule: "!has(self.ovsHardwareOffloadConfig) || !has(self.ovsHardwareOffloadConfig.name) || self.ovsHardwareOffloadConfig.name == '' || ((!has(self.nodeSelector) || (!has(self.nodeSelector.matchLabels) && !has(self.nodeSelector.matchExpressions))) && !has(self.maxUnavailable))",
 *   message: "must stand alone, without nodeSelector and maxUnavailable: its nodes are those of the MachineConfigPool",
 *   fieldPath: ".ovsHardwareOffloadConfig",
 *   fields: ["ovsHardwareOffloadConfig", "nodeSelector", "maxUnavailable"]
 * }]
 */
export interface SriovNetworkPoolConfigSpec {
  /**
   * OpenShift only: enables hardware offload of Open vSwitch on the nodes of a MachineConfigPool. Must not be combined
   * with other fields.
   */
  readonly ovsHardwareOffloadConfig?: OvsHardwareOffloadConfig;
  /**
   * Selects the nodes of the pool. An empty or absent selector selects all nodes. A node must be in one pool only.
   * Nodes that are in no pool are drained one at a time.
   * @x-kubernetes-map-type atomic
   */
  readonly nodeSelector?: LabelSelector;
  /**
   * Maximum number of nodes of the pool that are drained at once: a number, or a percentage such as "25%". By default,
   * there is no limit. 0 blocks all drains.
   * @maxLength 64
   * @x-kubernetes-validations [{
   *   rule: "type(self) == int ? self >= 0 : self.matches('^0*([1-9][0-9]?|100)%$')",
   *   message: "must be a number of at least 0, or a percentage from \"1%\" to \"100%\""
   * }]
   */
  readonly maxUnavailable?: number | string;
  /**
   * Which pods leave a node whose VFs change. "device", the default: those that have VFs which change. The node stays
   * schedulable, and these VFs are not offered meanwhile. "node": all pods that use VFs, and the node is cordoned. Nodes
   * are also drained like this if it is not known which pods have the VFs. Before a reboot, all pods leave.
   */
  readonly drainMode?: "device" | "node";
  /**
   * How pods get VFs of the nodes: from the device plugin (devicePlugin), or by ResourceClaims (dra, from Kubernetes 1.34). A change moves
   * free VFs at once and the others when their pods end; no pod restarts. By default, the feature gate
   * dynamicResourceAllocation decides; without it, it is devicePlugin.
   */
  readonly allocation?: "devicePlugin" | "dra";
  /**
   * Network namespace mode of the nodes' RDMA subsystem: RDMA devices are visible in all network namespaces (shared) or
   * in one only (exclusive). The mode of a node in the other mode is changed. The kernel refuses this while pods run on
   * the node; the node is then drained and reboots. Set maxUnavailable as well: without it, all nodes of the pool may be
   * drained at once. By default, each node keeps its mode.
   */
  readonly rdmaMode?: "shared" | "exclusive";
}

/** Settings of Open vSwitch hardware offload on OpenShift. */
export interface OvsHardwareOffloadConfig {
  /**
   * Name of the MachineConfigPool on whose nodes hardware offload is enabled.
   * @maxLength 253
   */
  readonly name?: string;
}

/** Observed state of a SriovNetworkPoolConfig. */
export interface SriovNetworkPoolConfigStatus extends ObjectStatus, NodeCounts {
  /**
   * Number of nodes of the pool that have moved to ResourceClaims; absent if it is 0.
   * @asType integer
   * @minimum 0
   */
  readonly draNodeCount?: number;
  /**
   * Nodes that count against maxUnavailable, in the order in which their drains started; at most 100 are listed.
   * @x-kubernetes-list-type atomic
   */
  readonly drainingNodes?: readonly DrainingNode[];
}

/** A node that counts against maxUnavailable. */
export interface DrainingNode {
  /** Name of the node. */
  readonly node: string;
  /** Draining while pods are evicted; DrainComplete after that, while the node's daemon configures the node. */
  readonly state: string;
  /**
   * Time at which the node entered this state.
   * @format date-time
   */
  readonly since?: string;
}
