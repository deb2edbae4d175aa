// SPDX-License-Identifier: Apache-2.0
/**
 * AfxdpLiveRules returns the AF_XDP policies and config of the caches as AfxdpRules, computed once for each change.
 */
import { operatorConfigName, type AfxdpOperatorConfig } from "@switchyard/api";
import { equalJson, type CacheChange } from "@switchyard/kube";
import { createAfxdpRules, type AfxdpRules } from "@switchyard/policy";
import type { AfxdpCaches } from "./afxdp-caches.ts";

/** The rules and the config that they belong to. */
export interface AfxdpLive {
  readonly rules: AfxdpRules;
  readonly config: AfxdpOperatorConfig;
}

/** Returns undefined while AfxdpOperatorConfig "default" does not exist, or is being deleted: then nothing is managed. */
export type AfxdpLiveRules = () => AfxdpLive | undefined;

/** Subscribes to the caches until `signal` aborts. */
export function createAfxdpLiveRules(
  caches: Pick<AfxdpCaches, "afxdpPolicies" | "afxdpConfigs"> & { readonly staleDelayMs: number },
  signal: AbortSignal,
): AfxdpLiveRules {
  const { afxdpPolicies, afxdpConfigs, staleDelayMs } = caches;
  let current: AfxdpLive | undefined;
  const invalidate = (change: CacheChange<RuleSource>): void => {
    if (changesRules(change)) current = undefined;
  };
  const subscriptions = [afxdpPolicies.subscribe(invalidate), afxdpConfigs.subscribe(invalidate)];
  signal.addEventListener("abort", () => {
    for (const end of subscriptions) end();
  });

  return () => {
    const config = afxdpConfigs.get(operatorConfigName);
    if (config === undefined || config.metadata.deletionTimestamp !== undefined) return undefined;
    current ??= {
      config,
      rules: createAfxdpRules({ policies: afxdpPolicies.list(), operatorConfig: config, staleDelayMs }),
    };
    return current;
  };
}

interface RuleSource {
  readonly metadata: { readonly uid?: string; readonly generation?: number; readonly deletionTimestamp?: string };
  readonly spec?: unknown;
}

/** Reports whether the change of a policy or config affects the rules. A change of the status is the operator's own write. */
export function changesRules({ before, after }: CacheChange<RuleSource>): boolean {
  const input = (source: RuleSource | undefined) => {
    if (source === undefined) return undefined;
    const { uid, generation, deletionTimestamp } = source.metadata;
    return { uid, generation, deletionTimestamp, spec: source.spec };
  };
  return !equalJson(input(before), input(after));
}
