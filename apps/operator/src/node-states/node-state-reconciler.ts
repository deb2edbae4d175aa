// SPDX-License-Identifier: Apache-2.0
/**
 * createNodeStateReconciler keeps one SriovNetworkNodeState for each node of the node set, merged from the policies
 * that select the node (sriov-operator.md B.2-B.4, B.9). A policy that cannot be applied to the node is left out;
 * policy-status-reconciler.ts reports it on the policy.
 *
 * A new state has the annotations of the drain handshake from the start, because external drainers and scripts wait for
 * them. The request is that of the Node, which keeps it if the state is deleted during a drain. This controller owns them until the daemon or a drainer writes another value, and an apply without them would
 * remove them. So an apply includes those that it still owns and names the resourceVersion that was seen: a request
 * that the daemon has just written is never overwritten. For the same reason a new state is not applied with force.
 */
import {
  annotations,
  defined,
  type Node,
  type OwnerReference,
  type SriovNetworkNodeState,
  type SriovNetworkNodeStateSpec,
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
import { isInNodeSet, staleStateAction, mergePolicies, nodeStateSpec } from "@switchyard/policy";
import { configOwner } from "../facts/config-exists.ts";
import { firstHandshake } from "../facts/cached-drain.ts";
import { recheckSoon } from "../controller-pace.ts";
import type { HeldResets } from "./held-resets.ts";
import type { LiveRules } from "../facts/live-rules.ts";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import type { RecentDeletions } from "../facts/recent-deletions.ts";
import type { MergeResults } from "../results/merge-results.ts";
import { generationsOf } from "../results/node-results.ts";
import type { MassLoss } from "./mass-loss.ts";
import { losesAll, sriovGrants, wereLostTogether, type FindResetHold, type ResetHold } from "./reset-hold.ts";

export interface NodeStateDeps {
  readonly nodes: Cache<Node>;
  readonly states: Cache<CachedNodeState>;
  readonly rules: LiveRules;
  readonly mergeResults: MergeResults;
  readonly writer: Writer<SriovNetworkNodeState>;
  /** Reports whether the SriovOperatorConfig still exists in the API server. */
  readonly configExists: (config: SriovOperatorConfig, signal: AbortSignal) => Promise<boolean>;
  /** Called if the spec would lose something. */
  readonly findResetHold: FindResetHold;
  /** Called if the spec would lose what only a pool gives. */
  readonly findPoolHold: FindResetHold;
  /** Holds nodes of which most lose all their policies at once. */
  readonly massLoss: MassLoss;
  readonly heldResets: Pick<HeldResets, "set">;
  /** Deletions of policies, pools and the list of NICs. */
  readonly deletions: RecentDeletions;
  /** Removes an annotation of the state, whoever set it. */
  readonly removeAnnotation: (name: string, annotation: string, signal: AbortSignal) => Promise<void>;
  /** Namespace of the states. */
  readonly namespace: string;
  readonly nowMs: () => number;
}

interface OwnedIntent extends Intent<SriovNetworkNodeState> {
  /** Annotations of the drain handshake that this controller owns, or sets on a new state. */
  readonly own: Readonly<Record<string, string>>;
}

/** The cache shows a SriovOperatorConfig that is gone. When the cache shows the deletion, all nodes are reconciled. */
const cacheBehind = { afterMs: 5_000 };

export function createNodeStateReconciler(deps: NodeStateDeps): Reconcile {
  const { nodes, states, mergeResults, writer, nowMs } = deps;

  return async function reconcile(name, signal) {
    const rules = deps.rules();
    if (rules?.operatorConfig === undefined) return undefined;
    const node = nodes.get(name);
    const state = states.get(name);
    const owner = configOwner(rules.operatorConfig);
    // An invalid configDaemonNodeSelector is no evidence that a node has left: its state stays as it is.
    if (node !== undefined && rules.nodeSetProblem !== undefined) return undefined;
    if (node === undefined || !isInNodeSet(node, rules)) {
      mergeResults.delete(name);
      deps.heldResets.set(name, undefined);
      deps.massLoss(name, false);
      return state && retire(state, owner, rules.staleDelayMs, signal);
    }

    if (state === undefined && !(await deps.configExists(rules.operatorConfig, signal))) return cacheBehind;
    const interfaces = state?.interfaces ?? [];
    const merged = mergePolicies(node, interfaces, rules);
    const next = nodeStateSpec(merged, state && { spec: state.spec, status: { interfaces } });
    const given = state && { before: sriovGrants(state.spec), specWrittenAt: state.specWrittenAt };
    const lost = given && wereLostTogether(given, sriovGrants(next));
    const massLoss = deps.massLoss(name, losesAll(given?.before, sriovGrants(next)));
    const losesMode = Boolean(state?.spec.system?.rdmaMode) && !next.system?.rdmaMode;
    const losesClaims = state?.spec.allocation !== undefined && next.allocation === undefined;
    const waitMs = lost !== undefined || losesMode || losesClaims ? deps.deletions.remainingMs() : 0;
    if (waitMs > 0) return { afterMs: waitMs };
    const policyHold = lost && ((await deps.findResetHold(lost.writtenAt, signal)) ?? massLoss);
    const poolHold = losesMode || losesClaims ? await deps.findPoolHold(state?.specWrittenAt, signal) : undefined;
    const hold = policyHold ?? poolHold;
    deps.heldResets.set(name, hold);
    const spec = heldSpec({ next, present: state?.spec, policyHold, poolHold });
    if (state?.keepStateUntil !== undefined) await deps.removeAnnotation(name, annotations.keepStateUntil, signal);
    const own = state === undefined ? firstHandshake(node) : (state.ownAnnotations ?? {});
    if (!(await write(state, { metadata: { name, ownerReferences: [owner] }, spec, own }, signal))) return recheckSoon;
    mergeResults.set(name, {
      ...merged,
      spec: shareEqual(state?.spec, hold === undefined ? nodeStateSpec(merged) : spec),
      interfaces,
      generations: generationsOf(merged, rules.policies),
    });
    return hold && { afterMs: hold.afterMs };
  };

  /** Returns false if another client has just written the state. */
  async function write(
    state: CachedNodeState | undefined,
    { metadata, spec, own }: OwnedIntent,
    signal: AbortSignal,
  ): Promise<boolean> {
    const all = { ...own, ...metadata.annotations };
    const whole = Object.keys(all).length === 0 ? metadata : { ...metadata, annotations: all };
    const seenVersion = states.observed({ name: metadata.name, namespace: deps.namespace })?.resourceVersion;
    const isOwner = Object.keys(own).length > 0 && seenVersion !== undefined;
    const options = state === undefined ? { force: false } : isOwner ? { seenVersion } : {};
    try {
      await writer.apply({ metadata: whole, spec: spec ?? {} }, signal, options);
      return true;
    } catch (error) {
      if (!isKubeError(error, "Conflict")) throw error;
      return false;
    }
  }

  /** Keeps the state of a node that left until a deadline, which an annotation stores, because the node may return. */
  async function retire(
    state: CachedNodeState,
    owner: OwnerReference,
    delayMs: number,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const { name, uid, keepStateUntil, spec } = state;
    const stored = keepStateUntil === undefined ? {} : { [annotations.keepStateUntil]: keepStateUntil };
    const decision = staleStateAction({ metadata: { annotations: stored } }, { nowMs: nowMs(), delayMs });
    if (decision.kind === "delete") {
      await writer.delete({ metadata: { name, uid } }, signal);
      return undefined;
    }
    if (decision.kind === "mark") {
      const marked = { [annotations.keepStateUntil]: decision.keepUntil };
      const metadata = { name, uid, annotations: marked, ownerReferences: [owner] };
      if (!(await write(state, { metadata, spec, own: state.ownAnnotations ?? {} }, signal))) return recheckSoon;
    }
    return { afterMs: decision.afterMs };
  }
}

/** Returns what a node has while policies or pools may have been lost. A lost pool takes nothing else with it. */
function heldSpec({
  next,
  present,
  policyHold,
  poolHold,
}: {
  readonly next: SriovNetworkNodeStateSpec;
  readonly present: SriovNetworkNodeStateSpec | undefined;
  readonly policyHold: ResetHold | undefined;
  readonly poolHold: ResetHold | undefined;
}): SriovNetworkNodeStateSpec {
  if (present === undefined) return next;
  if (policyHold !== undefined) return { interfaces: [], ...present };
  if (poolHold === undefined) return next;
  const rdmaMode = next.system?.rdmaMode || present.system?.rdmaMode;
  const system = rdmaMode === undefined ? next.system : { ...next.system, rdmaMode };
  return { ...next, ...defined({ system, allocation: next.allocation ?? present.allocation }) };
}
