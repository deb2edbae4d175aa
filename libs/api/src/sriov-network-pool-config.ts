// SPDX-License-Identifier: Apache-2.0
/**
 * SriovNetworkPoolConfig: settings that a set of nodes shares: how many may be disturbed at once, and the RDMA mode
 * (sriov-operator.md A.7). The JSDoc here is the CRD's text: `npm run generate`.
 */
import type { Condition, LabelSelector, ObjectMeta, ResourceType } from "./metadata.ts";

export const sriovNetworkPoolConfigs = {
  group: "sriovnetwork.openshift.io",
  version: "v1",
  kind: "SriovNetworkPoolConfig",
  plural: "sriovnetworkpoolconfigs",
  namespaced: true,
} as const satisfies ResourceType;

/** Settings of a set of nodes. */
export interface SriovNetworkPoolConfig {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "SriovNetworkPoolConfig";
  readonly metadata: ObjectMeta;
  readonly spec?: SriovNetworkPoolConfigSpec;
  readonly status?: SriovNetworkPoolConfigStatus;
}

/** What is wanted. */
export interface SriovNetworkPoolConfigSpec {
  /** OpenShift only: offload Open vSwitch to hardware on a MachineConfigPool. Excludes all other fields. */
  readonly ovsHardwareOffloadConfig?: {
    /** Name of the MachineConfigPool. */
    readonly name?: string;
  };
  /** Nodes of the pool; absent selects all. A node shall be in one pool only. */
  readonly nodeSelector?: LabelSelector;
  /** Nodes that may be drained at once: a number, or a part of the pool such as "25%". Absent: no limit. */
  readonly maxUnavailable?: number | string;
  /** Whether RDMA devices are visible in all network namespaces or only in their own. */
  readonly rdmaMode?: "shared" | "exclusive";
}

/** What became of it. */
export interface SriovNetworkPoolConfigStatus {
  /** Ready, Progressing, Degraded. */
  readonly conditions?: readonly Condition[];
  /**
   * metadata.generation that this status was judged from.
   * @asType integer
   */
  readonly observedGeneration?: number;
  /**
   * Nodes in the pool.
   * @asType integer
   */
  readonly matchedNodeCount?: number;
  /**
   * Of these, nodes that are configured.
   * @asType integer
   */
  readonly readyNodeCount?: number;
}
