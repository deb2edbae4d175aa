// SPDX-License-Identifier: Apache-2.0
/**
 * checkRdmaMode compares spec.rdmaMode of a pool with the mode of its nodes. It warns about nodes on
 * which the mode must change, because a running kernel changes it only without pods.
 */
import type { SriovNetworkPoolConfig } from "@switchyard/api";
import { rdmaModeDifference } from "@switchyard/plan";
import { createRules, rdmaModeOf } from "@switchyard/policy";
import type { ClusterView } from "../cluster-view.ts";
import { warn, type Finding } from "../finding.ts";
import { listNames } from "../phrase.ts";
import { asNode } from "../policy-targets.ts";

export function checkRdmaMode(pool: SriovNetworkPoolConfig, { namespace, nodes }: ClusterView): readonly Finding[] {
  if (!pool.spec?.rdmaMode || pool.metadata.namespace !== namespace) return [];
  const rules = createRules({ policies: [], pools: [pool] });
  const byMessage = new Map<string, string[]>();
  for (const { name, labels, state } of nodes) {
    if (state === undefined || state.layout.length === 0) continue; // no report yet
    const rdmaMode = rdmaModeOf(asNode({ name, labels }), rules);
    const difference = rdmaModeDifference(rdmaMode === undefined ? {} : { system: { rdmaMode } }, state.status);
    if (difference === undefined) continue;
    const names = byMessage.get(difference) ?? [];
    names.push(name);
    byMessage.set(difference, names);
  }
  return [...byMessage].map(([message, names]) => warn("spec.rdmaMode", `${listNames(names)}: ${message}`));
}
