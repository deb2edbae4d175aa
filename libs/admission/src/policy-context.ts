// SPDX-License-Identifier: Apache-2.0
/**
 * PolicyContext is what a policy's rules look at beside the policy itself.
 * Usage: `const { targets, others } = policyContext(policy, view, cache)`
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { nodeSetLabels } from "@switchyard/policy";
import type { AdmissionCache } from "./admission-cache.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { Finding } from "./finding.ts";
import { isIgnoredPolicy } from "./ignored-policy.ts";
import { targetsOf, type MatchPfs, type PolicyTargets } from "./policy-targets.ts";

export interface PolicyContext {
  readonly view: ClusterView;
  /** The nodes and PFs that the policy selects; none if it is outside of the operator's namespace. */
  readonly targets: PolicyTargets;
  /** The other policies in effect. Each of them selects all nodes of a group in `targets`, or none. */
  readonly others: readonly SriovNetworkNodePolicy[];
  readonly matchPfs: MatchPfs;
}

/** One rule. Returns all findings about the policy. */
export type PolicyCheck = (policy: SriovNetworkNodePolicy, context: PolicyContext) => readonly Finding[];

export function policyContext(
  policy: SriovNetworkNodePolicy,
  view: ClusterView,
  { groupNodes, matchPfs }: AdmissionCache,
): PolicyContext {
  const { name, namespace } = policy.metadata;
  if (namespace !== view.namespace) {
    const empty = { ...view, nodes: [] };
    return { view: empty, targets: targetsOf(policy, [], empty), others: [], matchPfs };
  }
  const others = view.policies.filter((other) => other.metadata.name !== name && !isIgnoredPolicy(other));
  const selectors = [policy, ...others].map(({ spec }) => spec.nodeSelector);
  const groups = groupNodes(view.nodes, [...selectors, nodeSetLabels(view.operatorConfig)]);
  return { view, targets: targetsOf(policy, groups, view, matchPfs), others, matchPfs };
}
