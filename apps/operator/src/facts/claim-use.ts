// SPDX-License-Identifier: Apache-2.0
/**
 * usesClaims tells whether pods of the cluster get VFs by ResourceClaims, so that the driver and the DeviceClasses for them are needed.
 * They stay until the last node has returned to the device plugin. countNodesWithoutDriver tells on how many nodes the driver is not
 * allowed to run yet.
 */
import {
  labels,
  operatorConfigName,
  type Node,
  type SriovNetworkPoolConfig,
  type SriovOperatorConfig,
} from "@switchyard/api";
import type { Cache, CacheChange } from "@switchyard/kube";
import { allocatorFor, isGateOn, isInNodeSet, mergePolicies } from "@switchyard/policy";
import type { CachedNodeState } from "./cached-node-state.ts";
import type { LiveRules } from "./live-rules.ts";

interface ClaimUseSources {
  readonly caches: {
    readonly operatorConfigs: Pick<Cache<SriovOperatorConfig>, "get">;
    readonly pools: Pick<Cache<SriovNetworkPoolConfig>, "list">;
    readonly states: Pick<Cache<CachedNodeState>, "list">;
  };
  readonly rules: LiveRules;
}

/** Reports whether a pool or the feature gate asks for ResourceClaims, or a node uses them. False where they are not served. */
export function usesClaims({ caches, rules }: ClaimUseSources): boolean {
  const { operatorConfigs, pools, states } = caches;
  if (rules()?.lacksClaims === true) return false;
  return (
    isGateOn("dynamicResourceAllocation", operatorConfigs.get(operatorConfigName)) ||
    pools.list().some(({ spec }) => spec?.allocation === "dra") ||
    states.list().some(usesClaimsOn)
  );
}

interface DriverSources {
  readonly caches: { readonly nodes: Pick<Cache<Node>, "list">; readonly states: Pick<Cache<CachedNodeState>, "get"> };
  readonly rules: LiveRules;
}

/**
 * Counts the nodes that are to give VFs to ResourceClaims and do not have the label of the driver. Nodes whose daemon has not reported
 * count, too.
 */
export function countNodesWithoutDriver({ caches, rules }: DriverSources): number {
  const current = rules();
  if (current === undefined) return 0;
  const lacksDriver = (node: Node): boolean => {
    if (!isInNodeSet(node, current) || allocatorFor(node, current) !== "dra" || hasDriverLabel(node)) return false;
    const state = caches.states.get(node.metadata.name);
    if (state === undefined || state.syncStatus === "") return true; // its PFs are unknown
    return needsDriver(state) || hasResources(mergePolicies(node, state.interfaces, current));
  };
  return caches.nodes.list().filter(lacksDriver).length;
}

/** Reports whether the change of a Node can change the result of countNodesWithoutDriver(). */
export function changesDriverLabel({ before, after }: CacheChange<Node>): boolean {
  return (before && hasDriverLabel(before)) !== (after && hasDriverLabel(after));
}

function hasDriverLabel({ metadata }: Node): boolean {
  return metadata.labels?.[labels.draDriver] !== undefined;
}

/** Reports whether the driver is to run on the node. */
export function needsDriver(state: CachedNodeState): boolean {
  const { offers, spec } = state;
  return offers.offeredBy === "dra" || offers.hasPublishedVfs || (spec.allocation === "dra" && hasResources(state));
}

/** Reports whether the spec of the node has VFs with a resource. */
export function hasResources({ spec }: Pick<CachedNodeState, "spec">): boolean {
  return (spec.interfaces ?? []).some(({ vfGroups = [] }) => vfGroups.some((group) => group.resourceName));
}

/** Reports whether the change of a node state can change the result of usesClaims(). */
export function changesUseOfNode({ before, after }: CacheChange<CachedNodeState>): boolean {
  return (before && usesClaimsOn(before)) !== (after && usesClaimsOn(after));
}

/** Reports whether the change of a pool can change the result of usesClaims(). */
export function changesUseOfPool({ before, after }: CacheChange<SriovNetworkPoolConfig>): boolean {
  return before?.spec?.allocation !== after?.spec?.allocation;
}

function usesClaimsOn({ offers, spec }: CachedNodeState): boolean {
  return spec.allocation === "dra" || offers.offeredBy === "dra" || offers.hasPublishedVfs;
}
