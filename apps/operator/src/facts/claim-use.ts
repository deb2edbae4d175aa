// SPDX-License-Identifier: Apache-2.0
/**
 * usesClaims tells whether pods of the cluster get VFs by ResourceClaims, so that the driver and the DeviceClasses for them are needed.
 * They stay until the last node has returned to the device plugin.
 */
import { operatorConfigName, type SriovNetworkPoolConfig, type SriovOperatorConfig } from "@switchyard/api";
import type { Cache, CacheChange } from "@switchyard/kube";
import { isGateOn } from "@switchyard/policy";
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
