// SPDX-License-Identifier: Apache-2.0
/**
 * PolicyContext is what a policy's rules look at beside the policy itself.
 * Usage: `const { targets, others } = policyContext(policy, view, cache)`
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { nodeSetLabels } from "@switchyard/policy";
import type { ClusterView } from "./cluster-view.ts";
import type { ReviewFinding } from "./finding.ts";
import { createNodeGrouping, type GroupNodes } from "./node-groups.ts";
import { createPfFingerprints, type PfFingerprint } from "./impact/pf-fingerprints.ts";
import { createPfMatcher, targetsOf, type MatchPfs, type PolicyTargets } from "./policy-targets.ts";

export interface PolicyContext {
  readonly view: ClusterView;
  /** The nodes and PFs that the policy selects; none if it is outside of the operator's namespace. */
  readonly targets: PolicyTargets;
  /** The other policies in effect. Each of them selects all nodes of a group in `targets`, or none. */
  readonly others: readonly SriovNetworkNodePolicy[];
  readonly matchPfs: MatchPfs;
}

/** One rule. Returns all findings about the policy. */
export type PolicyCheck = (policy: SriovNetworkNodePolicy, context: PolicyContext) => readonly ReviewFinding[];

/**
 * AdmissionCache keeps what many reviews of one cluster have in common: groups of equal nodes, the PFs that a stored
 * policy matches, and fingerprints of PFs. The process that answers reviews creates one and passes it to each review.
 *
 * Memory is bounded: groups and matches live as long as the node lists, policies and statuses that they belong to (weak
 * references). The fingerprints are dropped when there are more than 20,000 of them.
 */
export interface AdmissionCache {
  readonly groupNodes: GroupNodes;
  readonly matchPfs: MatchPfs;
  readonly pfFingerprint: PfFingerprint;
}

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

/**
 * isIgnoredPolicy recognizes policies that the operator ignores. Older releases of upstream created a policy named
 * "default" and later ones ignore that name (sriov-operator.md B.3). Here defaults, rules and merging ignore it in all
 * namespaces (sriov-operator.md M-37).
 */
export function isIgnoredPolicy({ metadata }: SriovNetworkNodePolicy): boolean {
  return metadata.name === "default";
}

/** Returns an empty cache. Objects that are given to admit() with this cache must not change afterwards. */
export function createAdmissionCache(): AdmissionCache {
  return { groupNodes: createNodeGrouping(), matchPfs: createPfMatcher(), pfFingerprint: createPfFingerprints() };
}
