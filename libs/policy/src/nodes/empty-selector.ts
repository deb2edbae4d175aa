// SPDX-License-Identifier: Apache-2.0
/**
 * An empty nodeSelector selects all nodes. It may be a mistake: the API server removes a label without a value, such as
 * `example.com/rack:` in YAML, before any rule can see it. Only the number of nodes shows that something is missing.
 * Usage: `isEmptySelector(spec.nodeSelector) ? describeEmptySelector(nodes.length) : undefined`.
 */
import type { LabelSelector } from "@switchyard/api";
import type { Labels } from "./label-selector.ts";

/** Whether a policy's nodeSelector has no label. */
export function isEmptySelector(selector: Labels): boolean {
  return Object.keys(selector).length === 0;
}

/** Whether a pool's nodeSelector is absent or has no requirement. */
export function isEmptyLabelSelector(selector: LabelSelector | undefined): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return isEmptySelector(matchLabels) && matchExpressions.length === 0;
}

/**
 * Returns the sentence for conditions and warnings: "spec.nodeSelector is empty: all 3 nodes of the node set are selected".
 * `nodeCount` is the number of nodes in the node set; undefined if the cluster's nodes are not known.
 */
export function describeEmptySelector(nodeCount: number | undefined): string {
  if (nodeCount === undefined) return "spec.nodeSelector is empty: all nodes of the node set are selected";
  return nodeCount === 1
    ? "spec.nodeSelector is empty: the only node of the node set is selected"
    : `spec.nodeSelector is empty: all ${nodeCount} nodes of the node set are selected`;
}
