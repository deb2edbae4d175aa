// SPDX-License-Identifier: Apache-2.0
/**
 * Functions that answer which pools a node is in and which settings apply to it (sriov-operator.md B.8, G). A node
 * should be in one pool only. If several pools select it, upstream drops the RDMA mode, so that the node reboots, and
 * does not drain the node (sriov-operator.md M-44). Switchyard uses the RDMA mode of the oldest pool, so that a new
 * pool never changes it. It drains the node when all of its pools allow it, and reports the overlap on each pool.
 * Usage: `poolsSelecting(node, rules)`, `rdmaModeOf(node, rules)`.
 */
import type { Node, SriovNetworkPoolConfig, SriovOperatorConfig } from "@switchyard/api";
import type { Allocator } from "../allocation/vf-offer.ts";
import { isGateOn } from "../config/feature-gates.ts";
import { labelsOf } from "../nodes/label-selector.ts";
import type { CompiledPool, PoolProblem } from "./compiled-pool.ts";

/** Whether RDMA devices are visible in all network namespaces or in one only. */
export type RdmaMode = "shared" | "exclusive";

/** Why a pool or the feature gate cannot ask for ResourceClaims. */
export const noClaims =
  "has no effect: the API server does not serve resource.k8s.io/v1, which Kubernetes has since release 1.34; " +
  "upgrade the cluster, or use the device plugin";

/** What decides about the allocation, besides pools. */
export interface AllocationRules {
  readonly operatorConfig: SriovOperatorConfig | undefined;
  /** Whether the cluster does not serve resource.k8s.io/v1. */
  readonly lacksClaims: boolean;
}

/** The pools of a cluster, oldest first; `Rules` of a merge are such. */
export interface PoolRules {
  readonly compiledPools: readonly CompiledPool[];
}

/**
 * Returns the pools that select the node, oldest first, and by name among equal ages; without pools for hardware
 * offload.
 */
export function poolsSelecting(node: Node, rules: PoolRules): readonly SriovNetworkPoolConfig[] {
  const labels = labelsOf(node);
  return rules.compiledPools.filter(({ selects }) => selects(labels)).map(({ pool }) => pool);
}

/** Returns the RDMA mode of the oldest pool that selects the node and sets one; undefined if no pool sets one. */
export function rdmaModeOf(node: Node, rules: PoolRules): RdmaMode | undefined {
  return rdmaSource(poolsSelecting(node, rules))?.spec?.rdmaMode;
}

/**
 * Returns who gives VFs of the node to pods: what the oldest pool that selects it says, else the feature gate. Before Kubernetes 1.34 it
 * is the device plugin.
 */
export function allocatorFor(node: Node, rules: PoolRules & AllocationRules): Allocator {
  if (rules.lacksClaims) return "devicePlugin";
  const chosen = poolsSelecting(node, rules).find(({ spec }) => spec?.allocation)?.spec?.allocation;
  return chosen ?? (isGateOn("dynamicResourceAllocation", rules.operatorConfig) ? "dra" : "devicePlugin");
}

/** Reports whether only pods leave the node whose VFs change: no pool that selects it has the drainMode "node". */
export function drainsByDevice(node: Node, rules: PoolRules): boolean {
  return !poolsSelecting(node, rules).some(({ spec }) => spec?.drainMode === "node");
}

/**
 * Returns one problem for each pool that selects this node together with another pool; empty if at most one selects it.
 */
export function poolOverlaps(node: Node, rules: PoolRules): readonly PoolProblem[] {
  const pools = poolsSelecting(node, rules);
  if (pools.length < 2) return [];
  const source = rdmaSource(pools);
  const rdma = source ? `, with rdmaMode "${source.spec?.rdmaMode ?? ""}" of pool "${source.metadata.name}"` : "";
  return pools.map((pool) => ({
    poolName: pool.metadata.name,
    code: "overlap",
    field: "spec.nodeSelector",
    value: pool.spec?.nodeSelector,
    message:
      `node "${node.metadata.name}" is also selected by ${quoteNames(pools.filter((other) => other !== pool))}: ` +
      `the maxUnavailable of each pool applies to it${rdma}; only one pool should select it`,
  }));
}

function rdmaSource(pools: readonly SriovNetworkPoolConfig[]): SriovNetworkPoolConfig | undefined {
  return pools.find((pool) => pool.spec?.rdmaMode);
}

function quoteNames(pools: readonly SriovNetworkPoolConfig[]): string {
  return pools.map((pool) => `"${pool.metadata.name}"`).join(", ");
}
