// SPDX-License-Identifier: Apache-2.0
/**
 * Nodes that no rule can tell apart, put together: the same cards in the same state, and labels that all selectors in
 * question treat alike. Most fleets are a few sorts of nodes, however many there are.
 * Usage: `for (const { labels, state, nodes } of sortsOf(view.nodes, [policy.spec.nodeSelector])) …`.
 */
import { hasLabels, type Labels } from "@switchyard/policy";
import type { NodeFacts, StateFacts } from "./node-facts.ts";

/** Nodes that are alike but for their names. */
export interface NodeSort {
  /** Those of one of them; the same object for all sorts whose labels are alike. */
  readonly labels: Labels;
  readonly state: StateFacts | undefined;
  readonly nodes: readonly NodeFacts[];
}

/** A sort of nodes whose daemons have reported their cards. */
export type DiscoveredSort = NodeSort & { readonly state: StateFacts };

/** Sorts with like labels are together. `nodes` must not change: what comes of it is remembered with it. */
export function sortsOf(nodes: readonly NodeFacts[], selectors: readonly Labels[]): readonly NodeSort[] {
  const keys = [...new Set(selectors.flatMap((selector) => Object.keys(selector)))].sort();
  const name = JSON.stringify(keys);
  const known = remembered.get(nodes) ?? new Map<string, readonly NodeSort[]>();
  remembered.set(nodes, known);
  const sorts = known.get(name) ?? sort(nodes, keys);
  known.delete(name);
  known.set(name, sorts); // the last used one is the last
  const [oldest] = known.keys();
  if (known.size > mostRemembered && oldest !== undefined) known.delete(oldest);
  return sorts;
}

/** Whether a sort has all of some labels, asked once for all sorts that have the same. */
export function selects(selector: Labels): (sort: NodeSort) => boolean {
  const answers = new Map<Labels, boolean>();
  return ({ labels }) => {
    const answer = answers.get(labels) ?? hasLabels(labels, selector);
    answers.set(labels, answer);
    return answer;
  };
}

export function isDiscovered(sort: NodeSort): sort is DiscoveredSort {
  return sort.state !== undefined && sort.state.layout.length > 0;
}

export function countNodes(sorts: readonly NodeSort[]): number {
  return sorts.reduce((sum, { nodes }) => sum + nodes.length, 0);
}

export function namesOf(sorts: readonly NodeSort[]): readonly string[] {
  return sorts.flatMap(({ nodes }) => nodes.map(({ name }) => name));
}

/** The same few keys are asked for again and again; others come with a policy that nobody stores. */
const mostRemembered = 8;

const remembered = new WeakMap<readonly NodeFacts[], Map<string, readonly NodeSort[]>>();

function sort(nodes: readonly NodeFacts[], keys: readonly string[]): readonly NodeSort[] {
  const labelled = new Map<string, { readonly labels: Labels; readonly nodes: NodeFacts[] }>();
  for (const node of nodes) {
    const values = JSON.stringify(keys.map((key) => (Object.hasOwn(node.labels, key) ? node.labels[key] : null)));
    const alike = labelled.get(values) ?? { labels: node.labels, nodes: [] };
    labelled.set(values, alike);
    alike.nodes.push(node);
  }
  return [...labelled.values()].flatMap(({ labels, nodes: alike }) => {
    // Equal statuses are one object: node-facts.ts.
    const byStatus = Map.groupBy(alike, ({ state }) => state?.status);
    return [...byStatus.values()].map((same) => ({ labels, state: same[0]?.state, nodes: same }));
  });
}
