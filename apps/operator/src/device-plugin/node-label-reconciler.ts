// SPDX-License-Identifier: Apache-2.0
/**
 * The label that says where a device plugin shall run: Enabled where the node's spec has resources, Disabled where it has
 * none any more, no label on nodes that never had any or are not ours (sriov-operator.md A.9, B.9, C).
 *
 * By a merge patch, not by server-side apply: an apply would make a node anew that has just gone, and could not take off
 * what upstream's operator put on.
 */
import { labels, type Node } from "@switchyard/api";
import type { Cache, Change, MetadataChanges, Reconcile } from "@switchyard/kube";
import { isInNodeSet } from "@switchyard/policy";
import { isDeepStrictEqual } from "node:util";
import type { LiveRules } from "../live-rules.ts";
import type { NodeStateFacts } from "../node-state-facts.ts";

export interface NodeLabelDeps {
  readonly nodes: Cache<Node>;
  readonly states: Cache<NodeStateFacts>;
  readonly rules: LiveRules;
  /**
   * Resolves once no node state waits to be written. Of a fleet they go first: what a plugin hands out is not there before
   * the daemons have read them.
   */
  readonly whenStatesAreWritten: () => Promise<void>;
  /** Changes labels; sends nothing where the node has them so. Rejects with KubeError. */
  readonly patchLabels: (node: Node, changes: MetadataChanges, signal: AbortSignal) => Promise<unknown>;
}

export function createNodeLabelReconciler(deps: NodeLabelDeps): Reconcile {
  const { nodes, states, rules, whenStatesAreWritten, patchLabels } = deps;
  return async function reconcile(name, signal) {
    await whenStatesAreWritten();
    const current = rules();
    const node = nodes.get(name);
    if (current === undefined || node === undefined) return undefined;
    const state = states.get(name);
    const isOurs = isInNodeSet(node, current);
    // Before the daemon's first report no spec can have resources: a plugin that serves pods may run there already.
    if (isOurs && (state === undefined || state.interfaces.length === 0)) return undefined;
    await patchLabels(node, { [labels.devicePlugin]: isOurs ? labelFor(node, state) : null }, signal);
    return undefined;
  };
}

function labelFor(node: Node, state: NodeStateFacts | undefined): string | null {
  if (hasResources(state)) return "Enabled";
  return node.metadata.labels?.[labels.devicePlugin] === undefined ? null : "Disabled";
}

/** The node, where the label may depend on what changed of its state. */
export function nodeOfResources({ key, before, after }: Change<NodeStateFacts>): readonly string[] {
  const concerns = (state: NodeStateFacts | undefined) =>
    state && { isKnown: state.interfaces.length > 0, hasResources: hasResources(state) };
  return isDeepStrictEqual(concerns(before), concerns(after)) ? [] : [key];
}

function hasResources(state: NodeStateFacts | undefined): boolean {
  return (state?.spec.interfaces ?? []).some(({ vfGroups = [] }) => vfGroups.some((group) => group.resourceName));
}
