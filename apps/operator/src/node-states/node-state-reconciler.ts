// SPDX-License-Identifier: Apache-2.0
/**
 * One SriovNetworkNodeState per node of the node set, merged from the policies that select it (sriov-operator.md B.2-B.4,
 * B.9). A policy that cannot be applied is left out here and reported on itself by policy-status-reconciler.ts.
 *
 * A new one has the annotations of the drain handshake from the start: external drainers and scripts wait for them. They are
 * this controller's until the daemon or a drainer writes another value, and an apply without them would take them away. So it
 * sends along those that are still its own, and then only to the object as it was seen: a request that the daemon has just
 * written is never overwritten. For the same reason a new one is not applied by force.
 */
import {
  annotations,
  apiVersion,
  type DrainAnswer,
  type DrainRequest,
  type Node,
  type OwnerReference,
  type SriovNetworkNodeState,
  type SriovOperatorConfig,
} from "@switchyard/api";
import {
  isKubeError,
  shareEqual,
  type Cache,
  type Intent,
  type Reconcile,
  type Requeue,
  type Writer,
} from "@switchyard/kube";
import {
  isInNodeSet,
  staleStateAction,
  mergePolicies,
  nodeStateSpec,
  type MergedNode,
  type Rules,
} from "@switchyard/policy";
import type { LiveRules } from "./live-rules.ts";
import type { NodeStateFacts } from "./node-state-facts.ts";
import type { MergeResults } from "./merge-results.ts";

/** All that a node state depends on. */
export interface NodeStateDeps {
  readonly nodes: Cache<Node>;
  readonly states: Cache<NodeStateFacts>;
  readonly rules: LiveRules;
  readonly mergeResults: MergeResults;
  readonly writer: Writer<SriovNetworkNodeState>;
  /** Whether the API server still has the operator config. */
  readonly configExists: (config: SriovOperatorConfig, signal: AbortSignal) => Promise<boolean>;
  /** Takes an annotation off that another writer put there; sends nothing where it is not. */
  readonly removeAnnotation: (name: string, annotation: string, signal: AbortSignal) => Promise<void>;
  /** Of the states. */
  readonly namespace: string;
  readonly nowMs: () => number;
}

/** The cache of operator configs shows one that is gone. When it hears of that, all nodes are reconciled. */
const cacheBehind = { afterMs: 5_000 };

export function createNodeStateReconciler(deps: NodeStateDeps): Reconcile {
  const { nodes, states, mergeResults, writer, nowMs } = deps;

  return async function reconcile(name, signal) {
    const rules = deps.rules();
    if (rules?.operatorConfig === undefined) return undefined;
    const node = nodes.get(name);
    const state = states.get(name);
    const owner = ownerOf(rules.operatorConfig);
    if (node === undefined || !isInNodeSet(node, rules)) {
      mergeResults.delete(name);
      return state && retire(state, owner, rules.staleDelayMs, signal);
    }

    if (state === undefined && !(await deps.configExists(rules.operatorConfig, signal))) return cacheBehind;
    const interfaces = state?.interfaces ?? [];
    const merged = mergePolicies(node, interfaces, rules);
    const spec = nodeStateSpec(merged, state && { spec: state.spec, status: { interfaces } });
    if (state?.keepStateUntil !== undefined) await deps.removeAnnotation(name, annotations.keepStateUntil, signal);
    if (!(await write(state, { metadata: { name, ownerReferences: [owner] }, spec }, signal))) return recheckSoon;
    mergeResults.set(name, {
      ...merged,
      spec: shareEqual(state?.spec, nodeStateSpec(merged)),
      interfaces,
      generations: generationsOf(merged, rules),
    });
    return undefined;
  };

  /** Whether it is written; not so where somebody else has just written there. */
  async function write(
    state: NodeStateFacts | undefined,
    { metadata, spec }: Intent<SriovNetworkNodeState>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const own = state === undefined ? idleAnnotations : (state.ownAnnotations ?? {});
    const all = { ...own, ...metadata.annotations };
    const whole = { ...metadata, ...(Object.keys(all).length === 0 ? {} : { annotations: all }) };
    const seenVersion = states.observed({ name: metadata.name, namespace: deps.namespace })?.resourceVersion;
    const isCareful = Object.keys(own).length > 0 && seenVersion !== undefined;
    const options = state === undefined ? { force: false } : isCareful ? { seenVersion } : {};
    try {
      await writer.apply({ metadata: whole, spec: spec ?? {} }, signal, options);
      return true;
    } catch (error) {
      if (!isKubeError(error, "Conflict")) throw error;
      return false;
    }
  }

  /** A node that left may return: its state stays until a deadline that is written on it. */
  async function retire(
    state: NodeStateFacts,
    owner: OwnerReference,
    delayMs: number,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const { name, uid, keepStateUntil, spec } = state;
    const stamp = keepStateUntil === undefined ? {} : { [annotations.keepStateUntil]: keepStateUntil };
    const decision = staleStateAction(
      { apiVersion, kind: "SriovNetworkNodeState", metadata: { name, annotations: stamp } },
      { nowMs: nowMs(), delayMs },
    );
    if (decision.kind === "delete") {
      await writer.delete({ metadata: { name, uid } }, signal);
      return undefined;
    }
    if (decision.kind === "mark") {
      const marked = { [annotations.keepStateUntil]: decision.keepUntil };
      const metadata = { name, uid, annotations: marked, ownerReferences: [owner] };
      if (!(await write(state, { metadata, spec }, signal))) return recheckSoon;
    }
    return { afterMs: decision.afterMs };
  }
}

/** The cache is about to show what is different. */
const recheckSoon = { afterMs: 100 };

/** Nobody asks for a drain, and nobody drains. */
const idleAnnotations: Readonly<Record<string, string>> = {
  [annotations.desiredState]: "Idle" satisfies DrainRequest,
  [annotations.currentState]: "Idle" satisfies DrainAnswer,
};

/** Deleting SriovOperatorConfig "default" takes the node states with it, as with upstream (H). */
function ownerOf(config: SriovOperatorConfig): OwnerReference {
  const { name, uid = "" } = config.metadata;
  return { apiVersion, kind: "SriovOperatorConfig", name, uid, controller: true, blockOwnerDeletion: true };
}

function generationsOf({ matches }: MergedNode, rules: Rules): ReadonlyMap<string, number> {
  const selecting = new Set(matches.map(({ policyName }) => policyName));
  const policies = rules.policies.filter(({ metadata }) => selecting.has(metadata.name));
  return new Map(policies.map(({ metadata }) => [metadata.name, metadata.generation ?? 0]));
}
