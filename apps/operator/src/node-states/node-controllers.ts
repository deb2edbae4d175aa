// SPDX-License-Identifier: Apache-2.0
/**
 * The controllers of policies, pools and node states: what each reads, what wakes it, what it writes.
 * Usage: `startNodeControllers(context);`
 */
import {
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  upstreamManager,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodeState,
  type SriovNetworkPoolConfig,
} from "@switchyard/api";
import { createWriter, equalJson, fromCache, patchMetadata, type Controller, type Source } from "@switchyard/kube";
import { fieldManagers } from "../field-managers.ts";
import { createNodeStateReconciler } from "./node-state-reconciler.ts";
import type { OperatorContext } from "../operator-context.ts";
import { limitRate } from "../status/limit-rate.ts";
import { createPolicyStatusReconciler } from "../status/policy-status-reconciler.ts";
import { createPoolStatusReconciler } from "../status/pool-status-reconciler.ts";
import { createConfigExistsCheck } from "../components/config-exists.ts";
import { createTransitionEvents } from "../status/transition-events.ts";
import { affectsNodes, isOwnWrite, nodeAffectedByState, nodesAffectedByPolicy } from "./affected-nodes.ts";

/** Near what one API server can take: 24 writes under way keep it busy, more only queue there (performance.md). */
const parallelNodes = 24;

/** Statuses that count nodes are written at most once in this time. */
const statusIntervalMs = 1_000;

/** Answers with the controller of node states, for those who let it go first. */
export function startNodeControllers(context: OperatorContext): Pick<Controller, "whenIdle"> {
  const { transport, caches, rules, mergeResults, start } = context;
  const { namespace } = context.settings;
  const { nodes, policies, pools, operatorConfigs, states, nicList } = caches;
  const now = (): Date => new Date();
  const reads = [nodes, policies, pools, operatorConfigs, states, nicList];
  const allNodes = (): readonly string[] => [...new Set([...nodes.keys(), ...states.keys()])];

  const nodeStates = start({
    name: "node-state",
    about: "node",
    parallel: parallelNodes,
    caches: [], // its sources are all that it reads
    reads,
    reconcile: createNodeStateReconciler({
      nodes,
      states,
      rules,
      mergeResults,
      writer: createWriter<SriovNetworkNodeState>({
        transport,
        type: sriovNetworkNodeStates,
        namespace,
        manager: fieldManagers.nodeState,
        cache: states,
        adopts: [upstreamManager],
      }),
      configExists: createConfigExistsCheck(transport, Date.now),
      async removeAnnotation(name, annotation, abort) {
        // What it says does not matter: it is there, or this would not be called.
        const object = { metadata: { name, namespace, annotations: { [annotation]: "" } } };
        const patch = { transport, type: sriovNetworkNodeStates, object, signal: abort };
        await patchMetadata({ ...patch, annotations: { [annotation]: null } });
      },
      namespace,
      nowMs: Date.now,
    }),
    sources: [
      fromCache(nodes, ({ key }) => [key]),
      fromCache(states, (change) => (isOwnWrite(change, mergeResults) ? [] : nodeAffectedByState(change))),
      fromCache(policies, (change) => nodesAffectedByPolicy(change, nodes)),
      fromCache(pools, ({ before, after }) => (equalJson(before?.spec, after?.spec) ? [] : allNodes())),
      fromCache(operatorConfigs, (change) => (affectsNodes(change) ? allNodes() : [])),
      fromCache(nicList, allNodes),
    ],
  });

  start({
    name: "policy-status",
    about: "policy",
    parallel: 4,
    reads,
    reconcile: limitRate(
      createPolicyStatusReconciler({
        ...{
          policies,
          nodes,
          states,
          rules,
          mergeResults,
          now,
          recordTransition: createTransitionEvents(context.events),
        },
        writer: createWriter<SriovNetworkNodePolicy>({
          transport,
          type: sriovNetworkNodePolicies,
          namespace,
          manager: fieldManagers.policyStatus,
          cache: policies,
        }),
      }),
      { intervalMs: statusIntervalMs, nowMs: () => performance.now() },
    ),
    sources: [
      fromCache(policies, ({ key }) => [key]),
      fromCache(operatorConfigs, () => policies.keys()),
      fromCache(states, ({ key }) => mergeResults.get(key)?.matches.map(({ policyName }) => policyName) ?? []),
      fromMergeResults((listener) => mergeResults.subscribe(listener)),
    ],
  });

  start({
    name: "pool-status",
    about: "pool",
    parallel: 4,
    reads,
    reconcile: limitRate(
      createPoolStatusReconciler({
        ...{ pools, nodes, states, rules, mergeResults, now, recordTransition: createTransitionEvents(context.events) },
        writer: createWriter<SriovNetworkPoolConfig>({
          transport,
          type: sriovNetworkPoolConfigs,
          namespace,
          manager: fieldManagers.poolStatus,
          cache: pools,
        }),
      }),
      { intervalMs: statusIntervalMs, nowMs: () => performance.now() },
    ),
    sources: [
      fromCache(pools, () => pools.keys()), // One pool's nodes are another's overlap.
      fromCache(operatorConfigs, () => pools.keys()),
      fromCache(nodes, () => pools.keys()),
      fromCache(states, () => pools.keys()),
    ],
  });
  return nodeStates;
}

/** Keys of policies whose mergeResults change; there is nothing to wait for at the start. */
function fromMergeResults(subscribe: (listener: (policyName: string) => void) => () => void): Source {
  return { start: subscribe, whenSynced: () => Promise.resolve() };
}
