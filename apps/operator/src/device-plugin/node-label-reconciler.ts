// SPDX-License-Identifier: Apache-2.0
/**
 * What a Node says for its device plugin and its daemon. The label: Enabled where the node's spec has resources, else
 * Disabled; none on nodes that are not ours. The annotation of drain requests: Idle until the daemon asks for something. Both
 * are there as soon as the node has a state, as users' scripts and external drainers wait for them (sriov-operator.md A.9, B.9,
 * C, G).
 *
 * By a merge patch, not by server-side apply: an apply would make a node anew that has just gone, and could not take off
 * what upstream's operator put on.
 */
import { annotations, labels, type DrainRequest, type Node } from "@switchyard/api";
import { isKubeError, type Cache, type Change, type MetadataPatch, type Reconcile } from "@switchyard/kube";
import { isInNodeSet } from "@switchyard/policy";
import { isDeepStrictEqual } from "node:util";
import type { LiveRules } from "../node-states/live-rules.ts";
import type { NodeStateFacts } from "../node-states/node-state-facts.ts";

export interface NodeLabelDeps {
  readonly nodes: Cache<Node>;
  readonly states: Cache<NodeStateFacts>;
  readonly rules: LiveRules;
  /**
   * Resolves once no node state waits to be written. Of a fleet they go first: what a plugin hands out is not there before
   * the daemons have read them.
   */
  readonly whenStatesAreWritten: () => Promise<void>;
  /** Changes labels and annotations; sends nothing where the node has them so. Rejects with KubeError. */
  readonly patch: (node: Node, changes: NodeChanges, signal: AbortSignal) => Promise<unknown>;
}

export type NodeChanges = Pick<MetadataPatch, "labels" | "annotations" | "resourceVersion">;

export function createNodeLabelReconciler(deps: NodeLabelDeps): Reconcile {
  const { nodes, states, rules, whenStatesAreWritten, patch } = deps;
  return async function reconcile(name, signal) {
    await whenStatesAreWritten();
    const current = rules();
    const node = nodes.get(name);
    if (current === undefined || node === undefined) return undefined;
    if (!isInNodeSet(node, current)) {
      await patch(node, { labels: { [labels.devicePlugin]: null } }, signal);
      return undefined;
    }
    const state = states.get(name);
    if (state === undefined) return undefined;
    try {
      await patch(node, { labels: labelsFor(node, state), ...requestFor(node) }, signal);
      return undefined;
    } catch (error) {
      if (!isKubeError(error, "Conflict")) throw error;
      return recheckSoon;
    }
  };

  /** What the daemon asks for is its own: it is only made where it is missing, and not if the Node was just written. */
  function requestFor(node: Node): Omit<NodeChanges, "labels"> {
    if (node.metadata.annotations?.[annotations.nodeState] !== undefined) return {};
    const resourceVersion = nodes.observed({ name: node.metadata.name })?.resourceVersion;
    const idle = { [annotations.nodeState]: "Idle" satisfies DrainRequest };
    return { annotations: idle, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  }
}

/** The cache is about to show what is different. */
const recheckSoon = { afterMs: 100 };

/** Before the daemon's first report no spec can have new resources: a plugin that serves pods may run there already. */
function labelsFor(node: Node, state: NodeStateFacts): Readonly<Record<string, string>> {
  const isLabelled = node.metadata.labels?.[labels.devicePlugin] !== undefined;
  if (state.interfaces.length === 0 && (isLabelled || hasResources(state))) return {};
  return { [labels.devicePlugin]: hasResources(state) ? "Enabled" : "Disabled" };
}

/** The node, where the label may depend on what changed of its state. */
export function nodeAffectedByResources({ key, before, after }: Change<NodeStateFacts>): readonly string[] {
  const concerns = (state: NodeStateFacts | undefined) =>
    state && { isKnown: state.interfaces.length > 0, hasResources: hasResources(state) };
  return isDeepStrictEqual(concerns(before), concerns(after)) ? [] : [key];
}

function hasResources(state: NodeStateFacts): boolean {
  return (state.spec.interfaces ?? []).some(({ vfGroups = [] }) => vfGroups.some((group) => group.resourceName));
}
