// SPDX-License-Identifier: Apache-2.0
/**
 * groupNodes puts nodes together that no rule can tell apart: they have the same NICs in the same state, and all
 * selectors in question match either all of them or none. A fleet usually consists of a few groups, whatever its size.
 */
import { hasLabels, offloadLabelKeys, type Labels } from "@switchyard/policy";
import type { NodeForReview, ReducedNodeState } from "./node-for-review.ts";

/** Nodes that differ in nothing that matters but their names. */
export interface NodeGroup {
  /** The labels of one of the nodes. Groups whose labels are equivalent share the same object. */
  readonly labels: Labels;
  readonly state: ReducedNodeState | undefined;
  readonly nodes: readonly NodeForReview[];
}

/** A group of nodes whose config daemons have reported their NICs. */
export type DiscoveredGroup = NodeGroup & { readonly state: ReducedNodeState };

/** Groups with equivalent labels are adjacent in the result. */
export type GroupNodes = (nodes: readonly NodeForReview[], selectors: readonly Labels[]) => readonly NodeGroup[];

/**
 * Returns a groupNodes() that remembers its last results for each array of nodes, as long as the array itself lives. The
 * arrays must not change.
 */
export function createNodeGrouping(): GroupNodes {
  const groupsByKeys = new WeakMap<readonly NodeForReview[], Map<string, readonly NodeGroup[]>>();
  return (nodes, selectors) => {
    const keys = labelKeysOf(selectors);
    const name = JSON.stringify(keys);
    const known = groupsByKeys.get(nodes) ?? new Map<string, readonly NodeGroup[]>();
    groupsByKeys.set(nodes, known);
    const groups = known.get(name) ?? groupByKeys(nodes, keys);
    known.delete(name);
    known.set(name, groups); // moves the entry to the end: the first one is the least recently used
    const [oldest] = known.keys();
    if (known.size > maxRememberedKeys && oldest !== undefined) known.delete(oldest);
    return groups;
  };
}

/** Groups the nodes by the label keys that the selectors use, and by their states. */
export const groupNodes: GroupNodes = (nodes, selectors) => groupByKeys(nodes, labelKeysOf(selectors));

/** Whether the labels of a group match `selector`. The result is computed once for all groups with the same labels. */
export function selects(selector: Labels): (group: NodeGroup) => boolean {
  const answers = new Map<Labels, boolean>();
  return ({ labels }) => {
    const answer = answers.get(labels) ?? hasLabels(labels, selector);
    answers.set(labels, answer);
    return answer;
  };
}

export function isDiscovered(group: NodeGroup): group is DiscoveredGroup {
  return group.state !== undefined && group.state.layout.length > 0;
}

export function countNodes(groups: readonly NodeGroup[]): number {
  return groups.reduce((sum, { nodes }) => sum + nodes.length, 0);
}

export function namesOf(groups: readonly NodeGroup[]): readonly string[] {
  return groups.flatMap(({ nodes }) => nodes.map(({ name }) => name));
}

/** Reviews of stored policies use the same few sets of keys. Further sets come from policies that are only tried. */
const maxRememberedKeys = 8;

/** Labels by which merging reserves VFs always count. */
function labelKeysOf(selectors: readonly Labels[]): readonly string[] {
  return [...new Set([...offloadLabelKeys, ...selectors.flatMap((selector) => Object.keys(selector))])].sort();
}

function groupByKeys(nodes: readonly NodeForReview[], keys: readonly string[]): readonly NodeGroup[] {
  const byLabels = new Map<string, { readonly labels: Labels; readonly nodes: NodeForReview[] }>();
  for (const node of nodes) {
    const values = JSON.stringify(keys.map((key) => (Object.hasOwn(node.labels, key) ? node.labels[key] : null)));
    const entry = byLabels.get(values) ?? { labels: node.labels, nodes: [] };
    byLabels.set(values, entry);
    entry.nodes.push(node);
  }
  return [...byLabels.values()].flatMap(({ labels, nodes: labelled }) => {
    // Equal statuses are the same object: node-for-review.ts.
    const byStatus = Map.groupBy(labelled, ({ state }) => state?.status);
    return [...byStatus.values()].map((same) => ({ labels, state: same[0]?.state, nodes: same }));
  });
}
