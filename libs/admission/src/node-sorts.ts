// SPDX-License-Identifier: Apache-2.0
/**
 * Nodes that a question about labels cannot tell apart, put together: 1,000 nodes and 20 selectors are then a few
 * answers instead of 20,000.
 * Usage: `for (const { labels, nodes } of sortsOf(view.nodes, [policy.spec.nodeSelector])) …`.
 */
import type { Labels } from "@switchyard/policy";

/** Nodes that all of the selectors treat alike. */
export interface NodeSort<Node> {
  /** Those of one of them. */
  readonly labels: Labels;
  readonly nodes: readonly Node[];
}

/** In the order of the first node of each. */
export function sortsOf<Node extends { readonly labels: Labels }>(
  nodes: readonly Node[],
  selectors: readonly Labels[],
): readonly NodeSort<Node>[] {
  const keys = [...new Set(selectors.flatMap((selector) => Object.keys(selector)))];
  const sorts = new Map<string, NodeSort<Node> & { readonly nodes: Node[] }>();
  for (const node of nodes) {
    const values = keys.map((key) => (Object.hasOwn(node.labels, key) ? `=${node.labels[key] ?? ""}` : "")).join("\n");
    const sort = sorts.get(values);
    if (sort === undefined) sorts.set(values, { labels: node.labels, nodes: [node] });
    else sort.nodes.push(node);
  }
  return [...sorts.values()];
}
