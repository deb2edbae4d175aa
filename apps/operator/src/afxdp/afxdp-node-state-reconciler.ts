// SPDX-License-Identifier: Apache-2.0
/**
 * createAfxdpNodeStateReconciler keeps one AfxdpNetworkNodeState for each node of the node set, merged from the AF_XDP
 * policies that select the node. What the node's SR-IOV policies use is left out. A policy that cannot be applied is reported
 * by afxdp-policy-status-reconciler.ts. A node keeps its spec if its policies may have been lost (reset-hold.ts).
 */
import {
  afxdpOperatorConfigs,
  annotations,
  type AfxdpNetworkNodeState,
  type AfxdpOperatorConfig,
  type Node,
  type OwnerReference,
} from "@switchyard/api";
import type { Cache, Reconcile, Requeue, Writer } from "@switchyard/kube";
import {
  afxdpDevices,
  afxdpNodeStateSpec,
  isInNodeSet,
  mergeAfxdpPolicies,
  sriovUse,
  staleStateAction,
} from "@switchyard/policy";
import type { CachedAfxdpState } from "../facts/afxdp-caches.ts";
import type { AfxdpLiveRules } from "../facts/afxdp-live-rules.ts";
import { configOwner } from "../facts/config-exists.ts";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import type { RecentDeletions } from "../facts/recent-deletions.ts";
import type { HeldResets } from "../node-states/held-resets.ts";
import type { MassLoss } from "../node-states/mass-loss.ts";
import { afxdpGrants, losesAll, wereLostTogether, type FindResetHold } from "../node-states/reset-hold.ts";
import type { AfxdpMergeResults } from "../results/afxdp-merge-results.ts";
import { generationsOf } from "../results/node-results.ts";

export interface AfxdpNodeStateDeps {
  readonly nodes: Cache<Node>;
  readonly afxdpStates: Cache<CachedAfxdpState>;
  /** The SriovNetworkNodeStates. */
  readonly states: Cache<CachedNodeState>;
  readonly rules: AfxdpLiveRules;
  readonly results: AfxdpMergeResults;
  readonly writer: Pick<Writer<AfxdpNetworkNodeState>, "apply" | "delete">;
  /** Reports whether the AfxdpOperatorConfig still exists in the API server. */
  readonly configExists: (config: AfxdpOperatorConfig, signal: AbortSignal) => Promise<boolean>;
  /** Called if the spec would lose something. */
  readonly findResetHold: FindResetHold;
  /** Holds nodes of which most lose all their policies at once. */
  readonly massLoss: MassLoss;
  readonly heldResets: Pick<HeldResets, "set">;
  /** Deletions of policies. */
  readonly deletions: RecentDeletions;
  readonly nowMs: () => number;
}

/** The cache shows an AfxdpOperatorConfig that is gone. */
const cacheBehind = { afterMs: 5_000 };

export function createAfxdpNodeStateReconciler(deps: AfxdpNodeStateDeps): Reconcile {
  const { nodes, afxdpStates, states, results, writer, nowMs } = deps;

  return async function reconcile(name, signal) {
    const live = deps.rules();
    if (live === undefined) return undefined;
    const { rules, config } = live;
    const node = nodes.get(name);
    const state = afxdpStates.get(name);
    const owner = configOwner(config, afxdpOperatorConfigs);
    // An invalid configDaemonNodeSelector is no evidence that a node has left: its state stays as it is.
    if (node !== undefined && rules.nodeSetProblem !== undefined) return undefined;
    if (node === undefined || !isInNodeSet(node, rules)) {
      results.delete(name);
      deps.heldResets.set(name, undefined);
      deps.massLoss(name, false);
      return state && retire(state, owner, rules.staleDelayMs, signal);
    }

    if (state === undefined && !(await deps.configExists(config, signal))) return cacheBehind;
    const devices = afxdpDevices(state?.status, sriovUse(states.get(name) ?? {}), state?.spec);
    const merged = mergeAfxdpPolicies(node, devices, rules);
    // An annotation that retire() wrote belongs to this writer, so it goes with the first apply without it.
    const next = afxdpNodeStateSpec(merged, state);
    const given = state && { before: afxdpGrants(state.spec ?? {}), specWrittenAt: state.specWrittenAt };
    const lost = given && wereLostTogether(given, afxdpGrants(next));
    const massLoss = deps.massLoss(name, losesAll(given?.before, afxdpGrants(next)));
    const waitMs = lost === undefined ? 0 : deps.deletions.remainingMs();
    if (waitMs > 0) return { afterMs: waitMs };
    const hold = lost && ((await deps.findResetHold(lost.writtenAt, signal)) ?? massLoss);
    deps.heldResets.set(name, hold);
    const spec = hold === undefined ? next : { interfaces: [], ...state?.spec };
    await writer.apply({ metadata: { name, ownerReferences: [owner] }, spec }, signal);
    const { matches, problems } = merged;
    const generations = generationsOf(merged, rules.policies);
    results.set(name, { matches, problems, generations, spec, interfaces: state?.status?.interfaces });
    return hold && { afterMs: hold.afterMs };
  };

  /** Keeps the state of a node that left until a deadline, which an annotation stores, because the node may return. */
  async function retire(
    state: CachedAfxdpState,
    owner: OwnerReference,
    delayMs: number,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const { name } = state.metadata;
    const decision = staleStateAction(state, { nowMs: nowMs(), delayMs });
    if (decision.kind === "delete") {
      await writer.delete(state, signal);
      return undefined;
    }
    if (decision.kind === "mark") {
      const marked = { [annotations.keepStateUntil]: decision.keepUntil };
      await writer.apply(
        { metadata: { name, ownerReferences: [owner], annotations: marked }, spec: state.spec ?? {} },
        signal,
      );
    }
    return { afterMs: decision.afterMs };
  }
}
