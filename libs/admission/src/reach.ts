// SPDX-License-Identifier: Apache-2.0
/**
 * Where a policy lands: nodes and their PFs. Nodes with the same cards in the same places are looked at once.
 * Usage: `const reach = reachOf(policy, view); for (const { nodes, pfs } of reach.landings) …`.
 */
import type { InterfaceStatus, Node, SriovNetworkNodePolicy } from "@switchyard/api";
import { createRules, hasLabels, mergePolicies, nodeSetLabels, parseVfRange, type VfRange } from "@switchyard/policy";
import type { ClusterView } from "./cluster-view.ts";
import type { NodeFacts, StateFacts } from "./node-facts.ts";
import { sortsOf } from "./node-sorts.ts";

/** A node that was discovered. */
export type DiscoveredNode = NodeFacts & { readonly state: StateFacts };

/** Nodes of one layout on which the policy matches PFs, at least one. */
export interface Landing {
  readonly nodes: readonly DiscoveredNode[];
  readonly layout: readonly InterfaceStatus[];
  /** Places, in the layout and in each status, of the PFs that it matches. */
  readonly pfs: readonly MatchedPf[];
}

export interface MatchedPf {
  readonly index: number;
  /** Name and ids; what is the same on all nodes of the landing. */
  readonly nic: InterfaceStatus;
  /** VFs that the policy takes of it; undefined where it takes none. */
  readonly vfs: VfRange | undefined;
}

export interface Reach {
  /** All nodes that nodeSelector selects. */
  readonly selected: readonly NodeFacts[];
  /** Those of them that no daemon runs on, by the operator config's node selector. */
  readonly outside: readonly NodeFacts[];
  /** Those in the node set whose cards nobody has reported yet. */
  readonly undiscovered: readonly NodeFacts[];
  /** Discovered ones without a PF that matches. */
  readonly unmatched: readonly DiscoveredNode[];
  readonly landings: readonly Landing[];
}

export function reachOf(policy: SriovNetworkNodePolicy, view: ClusterView): Reach {
  const { nodeSelector } = policy.spec;
  const daemonLabels = nodeSetLabels(view.operatorConfig);
  const selected: NodeFacts[] = [];
  const outside: NodeFacts[] = [];
  const undiscovered: NodeFacts[] = [];
  const byLayout = new Map<readonly InterfaceStatus[], DiscoveredNode[]>();
  for (const { labels, nodes } of sortsOf(view.nodes, [nodeSelector, daemonLabels])) {
    if (!hasLabels(labels, nodeSelector)) continue;
    const hasDaemon = hasLabels(labels, daemonLabels);
    for (const node of nodes) {
      selected.push(node);
      if (isDiscovered(node)) {
        const { layout } = node.state;
        const alike = byLayout.get(layout);
        if (alike === undefined) byLayout.set(layout, [node]);
        else alike.push(node);
      } else if (hasDaemon) undiscovered.push(node);
      else outside.push(node);
    }
  }

  const landings: Landing[] = [];
  const unmatched: DiscoveredNode[] = [];
  for (const [layout, nodes] of byLayout) {
    const pfs = matchedPfs(policy, layout);
    if (pfs.length > 0) landings.push({ nodes, layout, pfs });
    else unmatched.push(...nodes);
  }
  return { selected, outside, undiscovered, unmatched, landings };
}

/** The PFs of a layout that the policy is applied to, were it alone. */
export function matchedPfs(policy: SriovNetworkNodePolicy, layout: readonly InterfaceStatus[]): readonly MatchedPf[] {
  const { spec, matches } = mergePolicies(anyNode, layout, createRules({ policies: [everywhere(policy)], pools: [] }));
  const matched = new Set(matches.flatMap(({ pciAddresses }) => pciAddresses));
  const groups = new Map((spec.interfaces ?? []).map(({ pciAddress, vfGroups }) => [pciAddress, vfGroups?.[0]]));
  return layout.flatMap((nic, index) => {
    if (!matched.has(nic.pciAddress)) return [];
    const range = parseVfRange(groups.get(nic.pciAddress)?.vfRange ?? "");
    return [{ index, nic, vfs: range.ok ? range.value : undefined }];
  });
}

/** What each PF of a landing reports, with the node that it is on. */
export function* statusesOf(reach: Reach): Generator<{ readonly node: DiscoveredNode; readonly pf: InterfaceStatus }> {
  for (const { nodes, pfs } of reach.landings) {
    for (const node of nodes) {
      for (const { index } of pfs) {
        const pf = node.state.status.interfaces?.[index];
        if (pf !== undefined) yield { node, pf };
      }
    }
  }
}

/** The Node object that libs/policy reads. */
export function asNode({ name, labels }: Pick<NodeFacts, "name" | "labels">): Node {
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
}

/** Whether the node's daemon has reported its cards. */
export function isDiscovered(node: NodeFacts): node is DiscoveredNode {
  return node.state !== undefined && node.state.layout.length > 0;
}

const anyNode = asNode({ name: "", labels: {} });

function everywhere(policy: SriovNetworkNodePolicy): SriovNetworkNodePolicy {
  return { ...policy, spec: { ...policy.spec, nodeSelector: {} } };
}
