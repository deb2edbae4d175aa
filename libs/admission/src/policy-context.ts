// SPDX-License-Identifier: Apache-2.0
/**
 * What a rule about policies may look at beside the policy itself.
 * Usage: `const rule: PolicyRule = (policy, { reach }) => …`.
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { nodeSetLabels } from "@switchyard/policy";
import type { ClusterView } from "./cluster-view.ts";
import type { Finding } from "./finding.ts";
import { isIgnoredPolicy } from "./ignored-policy.ts";
import { sortsOf } from "./node-sorts.ts";
import { reachOf, type Reach } from "./reach.ts";

export interface PolicyContext {
  readonly view: ClusterView;
  /** Where the policy lands; nowhere if it is in a namespace that nobody looks into. */
  readonly reach: Reach;
  /** The policies that hold beside this one. Each selects all nodes of a sort in `reach`, or none. */
  readonly others: readonly SriovNetworkNodePolicy[];
}

/** One rule: all that it has to say about the policy. */
export type PolicyRule = (policy: SriovNetworkNodePolicy, context: PolicyContext) => readonly Finding[];

export function policyContext(policy: SriovNetworkNodePolicy, view: ClusterView): PolicyContext {
  const { name, namespace } = policy.metadata;
  if (namespace !== view.namespace) {
    const empty = { ...view, nodes: [] };
    return { view: empty, reach: reachOf(policy, [], empty), others: [] };
  }
  const others = view.policies.filter((other) => other.metadata.name !== name && !isIgnoredPolicy(other));
  const selectors = [policy, ...others].map(({ spec }) => spec.nodeSelector);
  const sorts = sortsOf(view.nodes, [...selectors, nodeSetLabels(view.operatorConfig)]);
  return { view, reach: reachOf(policy, sorts, view), others };
}
