// SPDX-License-Identifier: Apache-2.0
/**
 * startAfxdpControllers starts the controllers "afxdp-node-state", "afxdp-held-resets", "afxdp-policy-status" and "afxdp-bpfman". They do nothing in a cluster
 * without the kinds for AF_XDP.
 */
import {
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  type AfxdpNetworkNodePolicy,
  type AfxdpNetworkNodeState,
} from "@switchyard/api";
import { createWriter, equalJson, fromCache, type CacheChange } from "@switchyard/kube";
import { createConfigExistsCheck } from "../facts/config-exists.ts";
import { fieldManagers } from "../field-managers.ts";
import { limitRate, parallelNodes } from "../controller-pace.ts";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import { createHeldResets, heldResetsController, type HeldResets } from "../node-states/held-resets.ts";
import { countLosses, createMassLoss } from "../node-states/mass-loss.ts";
import { afxdpGrants, createResetHold } from "../node-states/reset-hold.ts";
import type { ControllerDefinition, OperatorContext } from "../operator-context.ts";
import { createTransitionEvents } from "../reports/transition-events.ts";
import { bpfmanController } from "./bpfman/bpfman-controller.ts";
import { changesRules } from "../facts/afxdp-live-rules.ts";
import { createRecentDeletions } from "../facts/recent-deletions.ts";
import { changesConfirmation, readConfirmation } from "../facts/reset-confirmation.ts";
import { createAfxdpMergeResults, type AfxdpMergeResults } from "../results/afxdp-merge-results.ts";
import { createAfxdpNodeStateReconciler } from "./afxdp-node-state-reconciler.ts";
import { createAfxdpPolicyStatusReconciler } from "./afxdp-policy-status-reconciler.ts";

/** Least time between two writes of a status that counts nodes. */
const rate = { intervalMs: 1_000, nowMs: () => performance.now() };

export function startAfxdpControllers(context: OperatorContext): void {
  const results = createAfxdpMergeResults();
  const heldResets = createHeldResets();
  const configs = context.caches.afxdpConfigs;
  context.start(nodeStateController(context, results, heldResets));
  context.start(
    heldResetsController(context, { name: "afxdp-held-resets", heldResets, type: afxdpOperatorConfigs, configs }),
  );
  context.start(policyStatusController(context, results));
  context.start(bpfmanController(context, results));
}

function nodeStateController(
  { transport, caches, afxdpRules: rules, settings: { namespace }, nowMs, signal: stopped }: OperatorContext,
  results: AfxdpMergeResults,
  heldResets: HeldResets,
): ControllerDefinition {
  const { nodes, states, afxdpPolicies, afxdpStates, afxdpConfigs } = caches;
  const allNodes = (): readonly string[] => [...new Set([...nodes.keys(), ...afxdpStates.keys()])];
  return {
    name: "afxdp-node-state",
    about: "afxdp-node",
    parallel: parallelNodes,
    reads: [nodes, states, afxdpPolicies, afxdpStates, afxdpConfigs],
    reconcile: createAfxdpNodeStateReconciler({
      nodes,
      states,
      afxdpStates,
      rules,
      results,
      writer: createWriter<AfxdpNetworkNodeState>({
        transport,
        namespace,
        type: afxdpNetworkNodeStates,
        manager: fieldManagers.nodeState,
        cache: afxdpStates,
      }),
      configExists: createConfigExistsCheck(transport, () => performance.now(), afxdpOperatorConfigs),
      findResetHold: createResetHold({
        transport,
        type: afxdpNetworkNodePolicies,
        cache: afxdpPolicies,
        namespace,
        nowMs,
      }),
      massLoss: createMassLoss({
        census: (except) =>
          countLosses({
            except,
            configured: afxdpStates.list().flatMap(({ metadata, spec = {} }) => {
              return afxdpGrants(spec).devices.length === 0 ? [] : [metadata.name];
            }),
            selectors: afxdpPolicies.list().map(({ spec }) => spec.nodeSelector),
            node: (name) => nodes.get(name),
          }),
        confirmed: () => readConfirmation(afxdpConfigs),
        config: afxdpOperatorConfigs,
        namespace,
        nowMs,
        elapsedMs: () => performance.now(),
      }),
      heldResets,
      deletions: createRecentDeletions({ caches: [afxdpPolicies], nowMs: () => performance.now() }, stopped),
      nowMs,
    }),
    sources: [
      fromCache(nodes, ({ key }) => [key]),
      fromCache(afxdpStates, (change) => (changesMerge(change) && !results.isOwnWrite(change) ? [change.key] : [])),
      fromCache(states, (change) => (changesSriovUse(change) ? [change.key] : [])),
      fromCache(afxdpPolicies, (change) => (changesRules(change) ? allNodes() : [])),
      fromCache(afxdpConfigs, (change) => (changesRules(change) || changesConfirmation(change) ? allNodes() : [])),
    ],
  };
}

function policyStatusController(context: OperatorContext, results: AfxdpMergeResults): ControllerDefinition {
  const { nodes, afxdpPolicies, afxdpStates, afxdpConfigs } = context.caches;
  const { transport, settings, afxdpRules: rules, now } = context;
  const reconcile = createAfxdpPolicyStatusReconciler({
    nodes,
    afxdpPolicies,
    afxdpStates,
    rules,
    results,
    now,
    recordTransition: createTransitionEvents(context.events),
    writer: createWriter<AfxdpNetworkNodePolicy>({
      transport,
      namespace: settings.namespace,
      type: afxdpNetworkNodePolicies,
      manager: fieldManagers.policyStatus,
      cache: afxdpPolicies,
    }),
  });
  return {
    name: "afxdp-policy-status",
    about: "afxdp-policy",
    parallel: 4,
    reads: [nodes, afxdpPolicies, afxdpStates, afxdpConfigs],
    reconcile: limitRate(reconcile, rate),
    sources: [
      fromCache(afxdpPolicies, ({ key }) => [key]),
      fromCache(afxdpConfigs, () => afxdpPolicies.keys()),
      fromCache(afxdpStates, ({ key }) => results.get(key)?.matches.map(({ policyName }) => policyName) ?? []),
      { start: (add) => results.subscribe(add), whenSynced: () => Promise.resolve() },
    ],
  };
}

/** The progress of the node does not affect the merge. */
function changesMerge({ before, after }: CacheChange<AfxdpNetworkNodeState>): boolean {
  const concerns = (state: AfxdpNetworkNodeState | undefined) =>
    state && { metadata: state.metadata, spec: state.spec, interfaces: state.status?.interfaces };
  return !equalJson(concerns(before), concerns(after));
}

function changesSriovUse({ before, after }: CacheChange<CachedNodeState>): boolean {
  const concerns = (state: CachedNodeState | undefined) => state && { spec: state.spec, pfs: state.pfs };
  return !equalJson(concerns(before), concerns(after));
}
