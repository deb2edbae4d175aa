// SPDX-License-Identifier: Apache-2.0
/**
 * createNodeLabelReconciler sets three things on Nodes. The device plugin label is Enabled if the node's spec has
 * resources, else Disabled, and is removed outside of the node set. It is Disabled, too, when a node has moved to ResourceClaims and its
 * last pod with a VF from the plugin has ended. The label of the driver of ResourceClaims is there from the first wish to move until no
 * ResourceSlice has a VF of the node. The annotation of drain requests is Idle until the
 * daemon makes a request. Annotation and device plugin label exist as soon as the node has a state, because scripts and external drainers wait for
 * them (sriov-operator.md A.9, B.9, C, G).
 *
 * It uses a merge patch: a server-side apply would recreate a Node that has just been deleted, and could not remove a
 * label that upstream's operator set.
 */
import { annotations, defined, drainRequests, labels, type Node } from "@switchyard/api";
import { isKubeError, type Cache, type CacheChange, type MetadataPatch, type Reconcile } from "@switchyard/kube";
import { isInNodeSet } from "@switchyard/policy";
import { isDeepStrictEqual } from "node:util";
import { recheckSoon } from "../controller-pace.ts";
import type { LiveRules } from "../facts/live-rules.ts";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import { hasResources, needsDriver } from "../facts/claim-use.ts";

export interface NodeLabelDeps {
  readonly nodes: Cache<Node>;
  readonly states: Cache<CachedNodeState>;
  readonly rules: LiveRules;
  /**
   * Resolves when no node state waits to be written. Node states are written first, because a device plugin has no
   * resources before its daemon has read the state.
   */
  readonly whenStatesAreWritten: () => Promise<void>;
  /** Patches labels and annotations. Sends nothing if the node has them already. Rejects with KubeError. */
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
      await patch(node, { labels: { [labels.devicePlugin]: null, [labels.draDriver]: null } }, signal);
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

  /**
   * Creates the annotation if it is missing. The resourceVersion protects a request that the daemon has just written.
   */
  function requestFor(node: Node): Omit<NodeChanges, "labels"> {
    if (node.metadata.annotations?.[annotations.nodeState] !== undefined) return {};
    const resourceVersion = nodes.observed({ name: node.metadata.name })?.resourceVersion;
    const idle = { [annotations.nodeState]: drainRequests.idle };
    return { annotations: idle, ...defined({ resourceVersion }) };
  }
}

/**
 * Before the daemon's first report the label of the device plugin is not changed, because one that serves pods may be running.
 */
function labelsFor(node: Node, state: CachedNodeState): Readonly<Record<string, string | null>> {
  const isLabelled = node.metadata.labels?.[labels.devicePlugin] !== undefined;
  const driver = { [labels.draDriver]: needsDriver(state) ? "Enabled" : null };
  if (state.interfaces.length === 0 && (isLabelled || hasResources(state))) return driver;
  return { ...driver, [labels.devicePlugin]: needsPlugin(state) ? "Enabled" : "Disabled" };
}

/** Returns the node if the change of its state can affect a label. */
export function nodeAffectedByResources({ key, before, after }: CacheChange<CachedNodeState>): readonly string[] {
  const relevant = (state: CachedNodeState | undefined) =>
    state && {
      isKnown: state.interfaces.length > 0,
      hasResources: hasResources(state),
      needsPlugin: needsPlugin(state),
      needsDriver: needsDriver(state),
    };
  return isDeepStrictEqual(relevant(before), relevant(after)) ? [] : [key];
}

/** Kubelets do not start containers again whose plugin is gone, so the plugin stays while pods have VFs from it. */
function needsPlugin(state: CachedNodeState): boolean {
  const { offers, spec } = state;
  return hasResources(state) && (spec.allocation !== "dra" || offers.offeredBy !== "dra" || offers.hasPluginPods);
}
