// SPDX-License-Identifier: Apache-2.0
/**
 * The controllers of drains: one decides whose turn it is, one drains each node (sriov-operator.md G).
 * Usage: `startDrainControllers(context);`
 *
 * RBAC: nodes get, list, watch, patch; pods get, list, watch; pods/eviction create; sriovnetworknodestates get, list,
 * watch, patch, and patch of their status; on OpenShift machineconfigs get, machineconfigpools get, patch.
 */
import { apiVersion, sriovNetworkNodeStates, type SriovNetworkNodeState } from "@switchyard/api";
import { createWriter, equalJson, fromCache, type Change } from "@switchyard/kube";
import { managers } from "../managers.ts";
import type { NodeStateFacts } from "../node-state-facts.ts";
import type { OperatorContext } from "../operator-context.ts";
import { createDrainAnswers } from "./drain-answers.ts";
import { createDrainPlaces } from "./drain-places.ts";
import { createDrainReconciler } from "./drain-reconciler.ts";
import { createDrainReporter } from "./drain-reporter.ts";
import { createDrainTurnsReconciler, drainTurnsKey } from "./drain-turns.ts";
import { evictPod } from "./evict-pod.ts";
import { createMachineConfigPools } from "./machine-config-pools.ts";
import { createNodeDrainer } from "./node-drainer.ts";
import { closeNode, openNode } from "./node-marks.ts";
import { followNodePods } from "./node-pods.ts";

/** A free slot is given to the next node well within a second. */
const debounce = { debounceMs: 20, maxDebounceMs: 100 };

export function startDrainControllers(context: OperatorContext): void {
  const { transport, caches, rules, events, log, settings, signal, start } = context;
  const { namespace, resourcePrefix } = settings;
  const { nodes, states, pools, operatorConfigs } = caches;
  const answers = createDrainAnswers(transport, namespace);
  const places = createDrainPlaces();
  const machineConfigPools = settings.clusterType === "openshift" ? createMachineConfigPools(transport) : undefined;

  const pods = followNodePods({
    transport,
    resourcePrefix,
    report(error) {
      log.warn({ error }, "watch of a node's pods failed, will be taken up again");
    },
  });
  signal.addEventListener("abort", () => void pods[Symbol.asyncDispose](), { once: true });

  start({
    name: "drain-turns",
    parallel: 1,
    ...debounce,
    reconcile: createDrainTurnsReconciler({ nodes, states, rules, answers, places, nowMs: Date.now }),
    sources: [
      fromCache(nodes, () => [drainTurnsKey]),
      fromCache(states, (change) => (isHandshake(change) ? [drainTurnsKey] : [])),
      fromCache(pools, ({ before, after }) => (equalJson(before?.spec, after?.spec) ? [] : [drainTurnsKey])),
      fromCache(operatorConfigs, () => [drainTurnsKey]),
    ],
  });

  start({
    name: "drain",
    parallel: 16,
    ...debounce,
    reconcile: createDrainReconciler({
      ...{ nodes, states, rules, places, answers, machineConfigPools, namespace },
      nowMs: Date.now,
      open: (node, abort) => openNode(node, { transport, signal: abort }),
      reporter: createDrainReporter({
        writer: createWriter<SriovNetworkNodeState>({
          transport,
          type: sriovNetworkNodeStates,
          namespace,
          manager: managers.drain,
          cache: states,
        }),
        tell({ name, uid }, event) {
          const regarding = { apiVersion, kind: "SriovNetworkNodeState", metadata: { name, namespace, uid } };
          events.record({ regarding, ...event, action: "Drain" });
        },
        now: () => new Date(),
      }),
      drainer: createNodeDrainer({
        ...{ pods, machineConfigPools },
        evict: (pod, abort) => evictPod(pod, transport, abort),
        close: (node, closing, abort) => closeNode(node, closing, { transport, signal: abort }),
        nodeCount: () => nodes.size,
        nowMs: Date.now,
        random: Math.random,
      }),
    }),
    sources: [
      fromCache(nodes, ({ key }) => [key]),
      fromCache(states, (change) => (isSameDrain(change) ? [] : [change.key])),
      fromCache(operatorConfigs, () => nodes.keys()),
      places.source,
      pods.source,
    ],
  });
}

/** Whether somebody asks or answers something else; our conditions are words about it. */
function isHandshake({ before, after }: Change<NodeStateFacts>): boolean {
  const said = (state: NodeStateFacts | undefined) => state && { uid: state.uid, ...state.drain, conditions: [] };
  return !equalJson(said(before), said(after));
}

function isSameDrain({ before, after }: Change<NodeStateFacts>): boolean {
  const drain = (state: NodeStateFacts | undefined) => state && { uid: state.uid, drain: state.drain };
  return equalJson(drain(before), drain(after));
}
