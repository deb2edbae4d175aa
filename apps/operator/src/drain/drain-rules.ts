// SPDX-License-Identifier: Apache-2.0
/**
 * createDrainRules returns the rules that decide which nodes are drained: those of the SriovOperatorConfig or, without one,
 * the pools with the node set of the AfxdpOperatorConfig.
 * Usage: `const drainRules = createDrainRules({ rules, afxdpRules, pools }, signal); if (drainRules() === undefined) return;`
 */
import type { SriovNetworkPoolConfig } from "@switchyard/api";
import { equalJson, type Cache } from "@switchyard/kube";
import { createRules, type Rules } from "@switchyard/policy";
import type { AfxdpLive, AfxdpLiveRules } from "../afxdp/afxdp-live-rules.ts";
import type { LiveRules } from "../node-states/live-rules.ts";

export interface DrainRuleSources {
  readonly rules: LiveRules;
  readonly afxdpRules: AfxdpLiveRules;
  readonly pools: Cache<SriovNetworkPoolConfig>;
}

/** Subscribes to the pools until `signal` aborts. The result returns undefined while neither config exists. */
export function createDrainRules({ rules, afxdpRules, pools }: DrainRuleSources, signal: AbortSignal): LiveRules {
  let current: { readonly of: AfxdpLive; readonly rules: Rules } | undefined;
  const end = pools.subscribe(({ before, after }) => {
    if (!equalJson(before?.spec, after?.spec)) current = undefined;
  });
  signal.addEventListener("abort", end, { once: true });

  function withoutSriov(): Rules | undefined {
    const live = afxdpRules();
    if (live === undefined) return undefined;
    if (current?.of !== live) {
      const { nodeSet } = live.rules;
      current = { of: live, rules: { ...createRules({ policies: [], pools: pools.list() }), nodeSet } };
    }
    return current.rules;
  }

  return () => rules() ?? withoutSriov();
}
