// SPDX-License-Identifier: Apache-2.0
/**
 * LiveRules returns the policies, pools and operator config of the caches as Rules. They are computed once for each
 * change, not once for each node.
 */
import {
  operatorConfigName,
  type SriovNetworkNodePolicy,
  type SriovNetworkPoolConfig,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { equalJson, type Cache, type CacheChange, type KubeObject, type ObjectMeta } from "@switchyard/kube";
import { createRules, unlistedNics, type Rules } from "@switchyard/policy";
import { knownNics, type NicList } from "./nic-list.ts";

export interface RuleCaches {
  readonly policies: Cache<SriovNetworkNodePolicy>;
  readonly pools: Cache<SriovNetworkPoolConfig>;
  readonly operatorConfigs: Cache<SriovOperatorConfig>;
  readonly nicList: NicList;
  /** Where they are not served, no node gives VFs to ResourceClaims. */
  readonly deviceClasses: Pick<Cache<KubeObject>, "synced" | "served">;
  readonly staleDelayMs: number;
  /** Upstream's DEV_MODE: policies may select any NIC. */
  readonly devMode: boolean;
}

/**
 * Returns undefined while SriovOperatorConfig "default" does not exist: then nothing is managed
 * (sriov-operator.md B.1).
 */
export type LiveRules = () => Rules | undefined;

/** Subscribes to the caches until `signal` aborts. */
export function createLiveRules(caches: RuleCaches, signal: AbortSignal): LiveRules {
  const { policies, pools, operatorConfigs, nicList, deviceClasses, staleDelayMs, devMode } = caches;
  let current: Rules | undefined;
  const invalidate = ({ before, after }: CacheChange<RuleSource>): void => {
    if (!equalJson(ruleInput(before), ruleInput(after))) current = undefined; // a change of the status has no effect
  };
  const subscriptions = [
    policies.subscribe(invalidate),
    pools.subscribe(invalidate),
    operatorConfigs.subscribe(invalidate),
    nicList.subscribe(() => {
      current = undefined;
    }),
  ];
  signal.addEventListener("abort", () => {
    for (const end of subscriptions) end();
  });

  return () => {
    const operatorConfig = operatorConfigs.get(operatorConfigName);
    // Objects of a SriovOperatorConfig that is being deleted must not be recreated: foreground deletion waits for them.
    if (operatorConfig === undefined || operatorConfig.metadata.deletionTimestamp !== undefined) return undefined;
    const lacksClaims = deviceClasses.synced && !deviceClasses.served;
    if (current?.lacksClaims !== lacksClaims) current = undefined; // a change of "served" tells nobody
    current ??= createRules({
      policies: policies.list(),
      pools: pools.list(),
      operatorConfig,
      staleDelayMs,
      lacksClaims,
      nics: { known: knownNics(nicList), unlisted: devMode ? "any" : unlistedNics(operatorConfig) },
    });
    return current;
  };
}

interface RuleSource {
  readonly metadata: ObjectMeta;
  readonly spec?: unknown;
}

// The uid counts, because owner references contain it; the generation, because merge results record it even if a spec
// was changed back.
function ruleInput(source: RuleSource | undefined) {
  return source && { uid: source.metadata.uid, generation: source.metadata.generation, spec: source.spec };
}
