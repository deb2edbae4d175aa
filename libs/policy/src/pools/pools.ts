// SPDX-License-Identifier: Apache-2.0
/**
 * Which pools a node is in and what that means for it (sriov-operator.md B.8, G). A node belongs in one pool only. Where
 * several select it, upstream drops the RDMA mode, whereupon the node reboots, and refuses to drain (M-44). Here the
 * oldest pool gives the mode, so that a new pool never changes it, the node is drained when all of its pools allow it,
 * and each pool says so.
 * Usage: `poolsSelecting(node, rules)`, `rdmaModeOf(node, rules)`.
 */
import type { Node, SriovNetworkPoolConfig } from "@switchyard/api";
import { labelsOf } from "../nodes/label-selector.ts";
import type { PoolProblem } from "./pool-rule.ts";
import type { Rules } from "../merge/rules.ts";

/** RDMA devices in all network namespaces, or only in their own. */
export type RdmaMode = "shared" | "exclusive";

/** All pools that select the node, the oldest first (equal ages by name). Pools for hardware offload never do. */
export function poolsSelecting(node: Node, rules: Rules): readonly SriovNetworkPoolConfig[] {
  const labels = labelsOf(node);
  return rules.poolRules.filter(({ selects }) => selects(labels)).map(({ pool }) => pool);
}

/**
 * The node's RDMA mode: that of the oldest pool that selects it and gives one. Pools that give none say nothing against
 * it. Undefined where no pool gives one.
 */
export function rdmaModeOf(node: Node, rules: Rules): RdmaMode | undefined {
  return rdmaSource(poolsSelecting(node, rules))?.spec?.rdmaMode;
}

/** One problem for each pool that shares this node with another; empty where the node is in one pool or none. */
export function poolOverlaps(node: Node, rules: Rules): readonly PoolProblem[] {
  const pools = poolsSelecting(node, rules);
  if (pools.length < 2) return [];
  const source = rdmaSource(pools);
  const rdma = source ? `, and rdmaMode "${source.spec?.rdmaMode ?? ""}" of pool "${source.metadata.name}"` : "";
  return pools.map((pool) => ({
    poolName: pool.metadata.name,
    code: "overlap",
    field: "spec.nodeSelector",
    value: pool.spec?.nodeSelector,
    message:
      `node "${node.metadata.name}" is also selected by ${quoteNames(pools.filter((other) => other !== pool))}: ` +
      `the maxUnavailable of each holds for it${rdma}; let one pool select it`,
  }));
}

function rdmaSource(pools: readonly SriovNetworkPoolConfig[]): SriovNetworkPoolConfig | undefined {
  return pools.find((pool) => pool.spec?.rdmaMode);
}

function quoteNames(pools: readonly SriovNetworkPoolConfig[]): string {
  return pools.map((pool) => `"${pool.metadata.name}"`).join(", ");
}
