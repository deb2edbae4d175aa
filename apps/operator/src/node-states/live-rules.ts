// SPDX-License-Identifier: Apache-2.0
/**
 * The rules as the caches have them now, made once for each change and not once for each node.
 * Usage: `const rules = createLiveRules({ policies, pools, operatorConfigs, nicList, staleDelayMs, devMode }, signal); rules()`.
 */
import {
  operatorConfigName,
  type SriovNetworkNodePolicy,
  type SriovNetworkPoolConfig,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { equalJson, type Cache, type Change, type ObjectMeta } from "@switchyard/kube";
import { createRules, unlistedNics, type Rules } from "@switchyard/policy";
import { knownNics, type NicList } from "./nic-list.ts";

export interface RuleCaches {
  readonly policies: Cache<SriovNetworkNodePolicy>;
  readonly pools: Cache<SriovNetworkPoolConfig>;
  readonly operatorConfigs: Cache<SriovOperatorConfig>;
  readonly nicList: NicList;
  readonly staleDelayMs: number;
  /** Upstream's DEV_MODE: policies may take any network card. */
  readonly devMode: boolean;
}

/** Answers undefined while there is no SriovOperatorConfig "default": then nothing is managed (sriov-operator.md B.1). */
export type LiveRules = () => Rules | undefined;

/** Subscribes to the caches; `signal` ends that. */
export function createLiveRules(caches: RuleCaches, signal: AbortSignal): LiveRules {
  const { policies, pools, operatorConfigs, nicList, staleDelayMs, devMode } = caches;
  let current: Rules | undefined;
  const forget = ({ before, after }: Change<RuleSource>): void => {
    if (!equalJson(concerns(before), concerns(after))) current = undefined; // A status makes no rule.
  };
  const subscriptions = [
    policies.subscribe(forget),
    pools.subscribe(forget),
    operatorConfigs.subscribe(forget),
    nicList.subscribe(() => {
      current = undefined;
    }),
  ];
  signal.addEventListener("abort", () => {
    for (const end of subscriptions) end();
  });

  return () => {
    const operatorConfig = operatorConfigs.get(operatorConfigName);
    // What belongs to a config that is being deleted must not come back: some deletions wait until it is gone.
    if (operatorConfig === undefined || operatorConfig.metadata.deletionTimestamp !== undefined) return undefined;
    current ??= createRules({
      ...{ policies: policies.list(), pools: pools.list(), operatorConfig, staleDelayMs },
      nics: { known: knownNics(nicList), unlisted: devMode ? "any" : unlistedNics(operatorConfig) },
    });
    return current;
  };
}

interface RuleSource {
  readonly metadata: ObjectMeta;
  readonly spec?: unknown;
}

// Not the spec alone: another object of the same name may ask for the same, or for nothing, and is named as an owner; and
// what changed to and fro while nobody looked is of another generation.
function concerns(source: RuleSource | undefined) {
  return source && { uid: source.metadata.uid, generation: source.metadata.generation, spec: source.spec };
}
