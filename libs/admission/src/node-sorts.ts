// SPDX-License-Identifier: Apache-2.0
/**
 * Nodes that no rule can tell apart, put together: the same cards in the same state, and labels that all selectors in
 * question treat alike. Most fleets are a few sorts of nodes, however many there are.
 * Usage: `for (const { labels, state, nodes } of sortsOf(view.nodes, [policy.spec.nodeSelector])) …`.
 */
import type { Labels } from "@switchyard/policy";
import type { NodeFacts, StateFacts } from "./node-facts.ts";

/** Nodes that are alike but for their names. */
export interface NodeSort {
  /** Those of one of them. */
  readonly labels: Labels;
  readonly state: StateFacts | undefined;
  readonly nodes: readonly NodeFacts[];
}

/** A sort of nodes whose daemons have reported their cards. */
export type DiscoveredSort = NodeSort & { readonly state: StateFacts };

/** In the order of the first node of each. `nodes` must not change: what comes of it is remembered with it. */
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
  const sorts = new Map<string, NodeSort & { readonly nodes: NodeFacts[] }>();
  const numbers = new Map<object | undefined, number>(); // equal statuses are one object: node-facts.ts
  for (const node of nodes) {
    const { labels, state } = node;
    const number = numbers.get(state?.status) ?? numbers.size;
    numbers.set(state?.status, number);
    const values = keys.map((key) => (Object.hasOwn(labels, key) ? labels[key] : null));
    const alike = JSON.stringify([number, ...values]);
    const known = sorts.get(alike);
    if (known === undefined) sorts.set(alike, { labels, state, nodes: [node] });
    else known.nodes.push(node);
  }
  return [...sorts.values()];
}
