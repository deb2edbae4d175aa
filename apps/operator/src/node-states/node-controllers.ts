// SPDX-License-Identifier: Apache-2.0
/** startNodeControllers starts the controllers "node-state", "held-resets", "policy-status" and "pool-status". */
import {
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  upstreamManager,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodeState,
  type SriovNetworkPoolConfig,
} from "@switchyard/api";
import { createWriter, equalJson, fromCache, patchMetadata, type Controller, type Source } from "@switchyard/kube";
import { createConfigExistsCheck } from "../facts/config-exists.ts";
import { fieldManagers } from "../field-managers.ts";
import type { ControllerDefinition, OperatorContext } from "../operator-context.ts";
import { limitRate, parallelNodes } from "../controller-pace.ts";
import { createPolicyStatusReconciler } from "../status/policy-status-reconciler.ts";
import { createPoolStatusReconciler } from "../status/pool-status-reconciler.ts";
import { createTransitionEvents } from "../reports/transition-events.ts";
import { changesConfirmation, readConfirmation } from "../facts/reset-confirmation.ts";
import {
  affectsNodes,
  isOwnWrite,
  nodeAffectedByLabels,
  nodeAffectedByState,
  nodesAffectedByPolicy,
} from "../results/affected-nodes.ts";
import { createRecentDeletions } from "../facts/recent-deletions.ts";
import { createHeldResets, heldResetsController, type HeldResets } from "./held-resets.ts";
import { createNodeStateReconciler } from "./node-state-reconciler.ts";
import { countLosses, createMassLoss } from "./mass-loss.ts";
import { createResetHold, sriovGrants } from "./reset-hold.ts";

/** Least time between two writes of a status that counts nodes. */
const rate = { intervalMs: 1_000, nowMs: () => performance.now() };

/** Returns the controller of node states, for controllers that let it finish first. */
export function startNodeControllers(context: OperatorContext): Pick<Controller, "whenIdle"> {
  const { nodes, policies, pools, operatorConfigs, states, nicList } = context.caches;
  const reads = [nodes, policies, pools, operatorConfigs, states, nicList];
  const heldResets = createHeldResets();
  const nodeStates = context.start(nodeStateController(context, reads, heldResets));
  const config = { name: "held-resets", heldResets, type: sriovOperatorConfigs, configs: operatorConfigs };
  context.start(heldResetsController(context, config));
  context.start(policyStatusController(context, reads));
  context.start(poolStatusController(context, reads));
  return nodeStates;
}

type Reads = ControllerDefinition["reads"];

function nodeStateController(
  { transport, caches, rules, mergeResults, settings, nowMs, signal: stopped }: OperatorContext,
  reads: Reads,
  heldResets: HeldResets,
) {
  const { namespace } = settings;
  const { nodes, policies, pools, operatorConfigs, states, nicList, deviceClasses } = caches;
  const allNodes = (): readonly string[] => [...new Set([...nodes.keys(), ...states.keys()])];
  return {
    name: "node-state",
    about: "node",
    parallel: parallelNodes,
    caches: [deviceClasses], // besides, it reads only the caches of its sources
    reads,
    reconcile: createNodeStateReconciler({
      nodes,
      states,
      rules,
      mergeResults,
      namespace,
      writer: createWriter<SriovNetworkNodeState>({
        transport,
        namespace,
        type: sriovNetworkNodeStates,
        manager: fieldManagers.nodeState,
        cache: states,
        adopts: [upstreamManager],
      }),
      configExists: createConfigExistsCheck(transport, () => performance.now()),
      findResetHold: createResetHold({
        transport,
        type: sriovNetworkNodePolicies,
        cache: policies,
        namespace,
        nowMs,
      }),
      findPoolHold: createResetHold({
        transport,
        type: sriovNetworkPoolConfigs,
        cache: pools,
        lost: { objects: "pools", consequence: "nodes without a pool get the default RDMA mode and the device plugin" },
        namespace,
        nowMs,
      }),
      massLoss: createMassLoss({
        census: (except) =>
          countLosses({
            except,
            configured: states.list().flatMap(({ name, spec, interfaces }) => {
              const isConfigured =
                sriovGrants(spec).devices.length > 0 || interfaces.some(({ owned }) => owned === true);
              return isConfigured ? [name] : [];
            }),
            selectors: policies.list().map(({ spec }) => spec.nodeSelector),
            node: (name) => nodes.get(name),
          }),
        confirmed: () => readConfirmation(operatorConfigs),
        config: sriovOperatorConfigs,
        namespace,
        nowMs,
        elapsedMs: () => performance.now(),
      }),
      heldResets,
      deletions: createRecentDeletions({ caches: [policies, pools, nicList], nowMs: () => performance.now() }, stopped),
      async removeAnnotation(name, annotation, signal) {
        // patchMetadata sends nothing for an annotation that the object lacks. This one exists, and its value does not
        // matter.
        const object = { metadata: { name, namespace, annotations: { [annotation]: "" } } };
        const patch = { transport, type: sriovNetworkNodeStates, object, signal };
        await patchMetadata({ ...patch, annotations: { [annotation]: null } });
      },
      nowMs,
    }),
    sources: [
      fromCache(nodes, (change) => nodeAffectedByLabels(change, rules())),
      fromCache(states, (change) => (isOwnWrite(change, mergeResults) ? [] : nodeAffectedByState(change))),
      fromCache(policies, (change) => nodesAffectedByPolicy(change, nodes)),
      fromCache(pools, ({ before, after }) => (equalJson(before?.spec, after?.spec) ? [] : allNodes())),
      fromCache(operatorConfigs, (change) => (affectsNodes(change) || changesConfirmation(change) ? allNodes() : [])),
      fromCache(nicList, allNodes),
    ],
  } satisfies ControllerDefinition;
}

function policyStatusController(context: OperatorContext, reads: Reads): ControllerDefinition {
  const { transport, caches, rules, mergeResults, settings, now } = context;
  const { namespace } = settings;
  const { nodes, policies, operatorConfigs, states } = caches;
  const reconcile = createPolicyStatusReconciler({
    policies,
    nodes,
    states,
    rules,
    mergeResults,
    now,
    recordTransition: createTransitionEvents(context.events),
    writer: createWriter<SriovNetworkNodePolicy>({
      transport,
      namespace,
      type: sriovNetworkNodePolicies,
      manager: fieldManagers.policyStatus,
      cache: policies,
    }),
  });
  return {
    name: "policy-status",
    about: "policy",
    parallel: 4,
    reads,
    reconcile: limitRate(reconcile, rate),
    sources: [
      fromCache(policies, ({ key }) => [key]),
      fromCache(operatorConfigs, () => policies.keys()),
      fromCache(states, ({ key }) => mergeResults.get(key)?.matches.map(({ policyName }) => policyName) ?? []),
      fromMergeResults((listener) => mergeResults.subscribe(listener)),
    ],
  };
}

function poolStatusController(context: OperatorContext, reads: Reads): ControllerDefinition {
  const { transport, caches, rules, mergeResults, settings, now } = context;
  const { namespace } = settings;
  const { nodes, pools, operatorConfigs, states } = caches;
  const reconcile = createPoolStatusReconciler({
    pools,
    nodes,
    states,
    rules,
    mergeResults,
    now,
    recordTransition: createTransitionEvents(context.events),
    writer: createWriter<SriovNetworkPoolConfig>({
      transport,
      namespace,
      type: sriovNetworkPoolConfigs,
      manager: fieldManagers.poolStatus,
      cache: pools,
    }),
  });
  return {
    name: "pool-status",
    about: "pool",
    parallel: 4,
    reads,
    reconcile: limitRate(reconcile, rate),
    sources: [
      fromCache(pools, () => pools.keys()), // a change of one pool can end or create an overlap with another
      fromCache(operatorConfigs, () => pools.keys()),
      fromCache(nodes, () => pools.keys()),
      fromCache(states, () => pools.keys()),
    ],
  };
}

/** Enqueues the names of policies whose merge results change. */
function fromMergeResults(subscribe: (listener: (policyName: string) => void) => () => void): Source {
  return { start: subscribe, whenSynced: () => Promise.resolve() };
}
