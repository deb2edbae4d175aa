// SPDX-License-Identifier: Apache-2.0
/**
 * targetsOf finds the nodes and PFs that a policy selects. Nodes with the same NICs at the same addresses are matched once.
 */
import type { InterfaceStatus, Node, SriovNetworkNodePolicy } from "@switchyard/api";
import {
  createRules,
  mergePolicies,
  nodeSetLabels,
  parseVfRange,
  type NicPolicy,
  type VfRange,
} from "@switchyard/policy";
import type { ClusterView } from "./cluster-view.ts";
import type { NodeForReview } from "./node-for-review.ts";
import { countNodes, isDiscovered, selects, type DiscoveredGroup, type NodeGroup } from "./node-groups.ts";

/** Nodes of one layout on which the policy matches at least one PF. */
export interface LayoutMatch {
  readonly groups: readonly DiscoveredGroup[];
  readonly layout: readonly InterfaceStatus[];
  readonly pfs: readonly MatchedPf[];
}

export interface MatchedPf {
  /** The PF's position in the layout and in the status of each node. */
  readonly index: number;
  /** Name and ids, which are the same on all nodes of the layout. */
  readonly nic: InterfaceStatus;
  /** The VFs of the PF that the policy configures; undefined if it configures none. */
  readonly vfs: VfRange | undefined;
}

export interface PolicyTargets {
  /** All nodes that spec.nodeSelector matches. */
  readonly selected: readonly NodeGroup[];
  /** Selected nodes outside of the node set: configDaemonNodeSelector does not match them, so no config daemon runs there. */
  readonly outside: readonly NodeGroup[];
  /** Selected nodes in the node set whose NICs have not been reported yet. */
  readonly undiscovered: readonly NodeGroup[];
  /** Discovered nodes without a matching PF. */
  readonly unmatched: readonly DiscoveredGroup[];
  readonly matches: readonly LayoutMatch[];
}

/** Finds the PFs of a layout to which the policy would be applied if it were the only one. */
export type MatchPfs = (
  policy: SriovNetworkNodePolicy,
  layout: readonly InterfaceStatus[],
  nics: NicPolicy,
) => readonly MatchedPf[];

/** `groups` are made with at least the policy's nodeSelector and the labels of the node set. */
export function targetsOf(
  policy: SriovNetworkNodePolicy,
  groups: readonly NodeGroup[],
  view: Pick<ClusterView, "operatorConfig" | "nics">,
  match: MatchPfs = matchPfs,
): PolicyTargets {
  const hasDaemon = selects(nodeSetLabels(view.operatorConfig));
  const selected = groups.filter(selects(policy.spec.nodeSelector));
  const unknown = selected.filter((group) => !isDiscovered(group));
  const byLayout = Map.groupBy(selected.filter(isDiscovered), ({ state }) => state.layout);

  const matches: LayoutMatch[] = [];
  const unmatched: DiscoveredGroup[] = [];
  for (const [layout, sharing] of byLayout) {
    const pfs = match(policy, layout, view.nics);
    if (pfs.length > 0) matches.push({ groups: sharing, layout, pfs });
    else unmatched.push(...sharing);
  }
  return {
    selected,
    outside: unknown.filter((group) => !hasDaemon(group)),
    undiscovered: unknown.filter(hasDaemon),
    unmatched,
    matches,
  };
}

/**
 * Returns a matchPfs() that remembers results as long as the policy and the layout live: stored policies are matched
 * with the same layouts in each review.
 */
export function createPfMatcher(): MatchPfs {
  const byPolicy = new WeakMap<SriovNetworkNodePolicy, WeakMap<readonly InterfaceStatus[], RememberedMatch>>();
  return (policy, layout, nics) => {
    const byLayout = byPolicy.get(policy) ?? new WeakMap<readonly InterfaceStatus[], RememberedMatch>();
    byPolicy.set(policy, byLayout);
    const last = byLayout.get(layout);
    if (last !== undefined && last.known === nics.known && last.unlisted === nics.unlisted) return last.pfs;
    const pfs = matchPfs(policy, layout, nics);
    byLayout.set(layout, { ...nics, pfs });
    return pfs;
  };
}

/** A result and the NIC policy that it was computed with. */
interface RememberedMatch extends NicPolicy {
  readonly pfs: readonly MatchedPf[];
}

const matchPfs: MatchPfs = (policy, layout, nics) => {
  // A NIC that "strict" forbids counts as matched, so that the refusal can name it: rules/supported-nics.ts.
  const unlisted = nics.unlisted === "refuse" ? "warn" : nics.unlisted;
  const rules = createRules({ policies: [forAllNodes(policy)], pools: [], nics: { ...nics, unlisted } });
  const { spec, matches } = mergePolicies(anyNode, layout, rules);
  const matched = new Set(matches.flatMap(({ pciAddresses }) => pciAddresses));
  const vfGroups = new Map((spec.interfaces ?? []).map((pf) => [pf.pciAddress, pf.vfGroups?.[0]]));
  return layout.flatMap((nic, index) => {
    if (!matched.has(nic.pciAddress)) return [];
    const range = parseVfRange(vfGroups.get(nic.pciAddress)?.vfRange ?? "");
    return [{ index, nic, vfs: range.ok ? range.value : undefined }];
  });
};

/** Calls `visit` with the status of each matched PF, once for each group of nodes. */
export function forEachMatchedPf(
  { matches }: PolicyTargets,
  visit: (pf: InterfaceStatus, group: DiscoveredGroup) => void,
): void {
  for (const { groups, pfs } of matches) {
    for (const group of groups) {
      for (const { index } of pfs) {
        const pf = group.state.status.interfaces?.[index];
        if (pf !== undefined) visit(pf, group);
      }
    }
  }
}

/** The number of nodes on which the policy matches a PF. */
export function matchedNodeCount({ matches }: PolicyTargets): number {
  return matches.reduce((sum, { groups }) => sum + countNodes(groups), 0);
}

/** The Node object that libs/policy reads. */
export function asNode({ name, labels }: Pick<NodeForReview, "name" | "labels">): Node {
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
}

const anyNode = asNode({ name: "", labels: {} });

function forAllNodes(policy: SriovNetworkNodePolicy): SriovNetworkNodePolicy {
  return { ...policy, spec: { ...policy.spec, nodeSelector: {} } };
}
