// SPDX-License-Identifier: Apache-2.0
/**
 * usesClaims tells whether pods of the cluster get VFs by ResourceClaims, so that the driver and the DeviceClasses for them are needed.
 * They stay until the last node has returned to the device plugin.
 */
import { operatorConfigName, type SriovNetworkPoolConfig } from "@switchyard/api";
import type { CacheChange } from "@switchyard/kube";
import { isGateOn } from "@switchyard/policy";
import type { OperatorContext } from "../operator-context.ts";
import type { CachedNodeState } from "./cached-node-state.ts";

/** Reports whether a pool or the feature gate asks for ResourceClaims, or a node uses them. False where they are not served. */
export function usesClaims({ caches, rules }: Pick<OperatorContext, "caches" | "rules">): boolean {
  const { operatorConfigs, pools, states } = caches;
  if (rules()?.lacksClaims === true) return false;
  return (
    isGateOn("dynamicResourceAllocation", operatorConfigs.get(operatorConfigName)) ||
    pools.list().some(({ spec }) => spec?.allocation === "dra") ||
    states.list().some(usesClaimsOn)
  );
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
