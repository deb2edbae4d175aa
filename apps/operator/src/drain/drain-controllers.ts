// SPDX-License-Identifier: Apache-2.0
/**
 * The controllers of drains: one decides whose turn it is, one drains each node, one reports the slot of nodes in no pool,
 * and on OpenShift one ends the pauses of MachineConfigPools (sriov-operator.md G).
 * Usage: `startDrainControllers(context);`
 *
 * RBAC: nodes get, list, watch, patch; pods list, watch; pods/eviction create; resourceclaims get; resourceslices list;
 * sriovnetworknodestates get, list, watch, patch, and patch of their status; on OpenShift machineconfigs get,
 * machineconfigpools get, list, patch.
 */
import {
  annotations,
  apiVersion,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type Node,
  type SriovNetworkNodeState,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { createWriter, equalJson, fromCache, type Change, type News, type Transport } from "@switchyard/kube";
import type { ClusterCaches } from "../cluster-caches.ts";
import type { LiveRules } from "../node-states/live-rules.ts";
import { fieldManagers } from "../field-managers.ts";
import type { NodeStateFacts } from "../node-states/node-state-facts.ts";
import type { ControllerDefinition, OperatorContext } from "../operator-context.ts";
import type { OperatorSettings } from "../start/operator-settings.ts";
import { limitRate } from "../status/limit-rate.ts";
import { createClaimedDevices } from "./eviction/claimed-devices.ts";
import { createDefaultPoolStatusReconciler, defaultPoolKey } from "./slots/default-pool-status-reconciler.ts";
import { createDrainAnswers } from "./drain-answers.ts";
import { createDrainPausesReconciler, drainPausesKey } from "./slots/drain-pauses-reconciler.ts";
import { createQueuePositions } from "./slots/queue-positions.ts";
import { createDrainReconciler } from "./drain-reconciler.ts";
import { createDrainReporter } from "./drain-reporter.ts";
import { createDrainSlotsReconciler, drainSlotsKey } from "./slots/drain-slots-reconciler.ts";
import { evictPod } from "./eviction/evict-pod.ts";
import { createMachineConfigPools } from "./slots/machine-config-pools.ts";
import { createNodeDrainer } from "./eviction/node-drainer.ts";
import { cordonNode, uncordonNode } from "./cordon-node.ts";
import { followNodePods, type NodePods } from "./eviction/node-pods.ts";

export interface DrainOptions {
  readonly transport: Transport;
  readonly caches: Pick<ClusterCaches, "nodes" | "states" | "policies" | "pools" | "operatorConfigs">;
  readonly rules: LiveRules;
  readonly settings: Pick<OperatorSettings, "namespace" | "clusterType">;
  readonly pods: NodePods;
  /** Tells people; never fails. */
  readonly record: (news: News) => void;
  /** The wall clock. */
  readonly nowMs: () => number;
  /** Monotonic. */
  readonly elapsedMs: () => number;
  /** In [0, 1). */
  readonly random: () => number;
}

/** As often as the statuses of pools. */
const statusIntervalMs = 1_000;

/** A free slot is given to the next node well within a second. */
const debounce = { debounceMs: 20, maxDebounceMs: 100 };

export function startDrainControllers(context: OperatorContext): void {
  const { transport, log, settings, signal, events } = context;
  const pods = followNodePods({
    transport,
    resourcePrefix: settings.resourcePrefix,
    maxAgeMs: settings.maxCacheAgeMs,
    report(error, { resource, ageMs }) {
      log.warn({ resource, ageMs, error }, "watch failed; retrying");
    },
  });
  context.showAges(pods);
  signal.addEventListener("abort", () => void pods[Symbol.asyncDispose](), { once: true });
  const { turns, drains, pauses, defaultPool } = drainControllers({
    ...context,
    pods,
    record(news) {
      events.record(news);
    },
    nowMs: Date.now,
    elapsedMs: () => performance.now(),
    random: Math.random,
  });
  for (const controller of [turns, drains, ...pauses, defaultPool]) context.start(controller);
}

export function drainControllers(options: DrainOptions) {
  const { transport, caches, rules, settings, pods, nowMs, elapsedMs, random } = options;
  const { nodes, states, policies, pools, operatorConfigs } = caches;
  const reads = [nodes, states, policies, pools, operatorConfigs];
  const { namespace } = settings;
  const answers = createDrainAnswers(transport, namespace);
  const places = createQueuePositions();
  const machineConfigPools = settings.clusterType === "openshift" ? createMachineConfigPools(transport) : undefined;
  const reporter = createDrainReporter({
    writer: createWriter<SriovNetworkNodeState>({
      transport,
      type: sriovNetworkNodeStates,
      namespace,
      manager: fieldManagers.drain,
      cache: states,
    }),
    recordEvent({ name, uid }, event) {
      const regarding = { apiVersion, kind: "SriovNetworkNodeState", metadata: { name, namespace, uid } };
      options.record({ regarding, ...event, action: "Drain" });
    },
    now: () => new Date(nowMs()),
    elapsedMs,
  });
  const drainer = createNodeDrainer({
    devices: createClaimedDevices({ transport, states }),
    ...{ pods, machineConfigPools, nowMs, elapsedMs, random },
    evict: (pod, abort) => evictPod(pod, transport, abort),
    close: (node, closing, abort) => cordonNode(node, closing, { transport, signal: abort }),
    nodeCount: () => nodes.size,
  });

  const turns: ControllerDefinition = {
    name: "drain-slots",
    parallel: 1,
    reads,
    ...debounce,
    reconcile: createDrainSlotsReconciler({ nodes, states, rules, answers, places, namespace, nowMs }),
    sources: [
      fromCache(nodes, () => [drainSlotsKey]),
      fromCache(states, (change) => (isSameHandshake(change) ? [] : [drainSlotsKey])),
      fromCache(pools, ({ before, after }) => (equalJson(before?.spec, after?.spec) ? [] : [drainSlotsKey])),
      fromCache(operatorConfigs, () => [drainSlotsKey]),
    ],
  };
  const drains: ControllerDefinition = {
    name: "drain",
    about: "node",
    parallel: 16,
    reads,
    ...debounce,
    reconcile: createDrainReconciler({
      ...{ nodes, states, rules, places, answers, reporter, drainer, namespace, nowMs },
      open: (node, abort) => uncordonNode(node, { transport, signal: abort }),
    }),
    sources: [
      fromCache(nodes, ({ key }) => [key]),
      fromCache(states, (change) => (isSameDrain(change) ? [] : [change.key])),
      fromCache(operatorConfigs, () => nodes.keys()),
      places.source,
      pods.source,
    ],
  };
  const pauses: readonly ControllerDefinition[] =
    machineConfigPools === undefined
      ? []
      : [
          {
            name: "drain-pauses",
            parallel: 1,
            reads: [nodes, states],
            ...debounce,
            reconcile: createDrainPausesReconciler({ nodes, states, machineConfigPools }),
            sources: [
              fromCache(nodes, (change) => (isSameRequest(change) ? [] : [drainPausesKey])),
              fromCache(states, (change) => (isSameHandshake(change) ? [] : [drainPausesKey])),
            ],
          },
        ];
  const defaultPool: ControllerDefinition = {
    name: "default-pool-status",
    parallel: 1,
    reads,
    reconcile: limitRate(
      createDefaultPoolStatusReconciler({
        ...{ nodes, states, rules, configs: operatorConfigs, now: () => new Date(nowMs()) },
        writer: createWriter<SriovOperatorConfig>({
          ...{ transport, namespace, type: sriovOperatorConfigs },
          manager: fieldManagers.defaultPoolStatus,
          cache: operatorConfigs,
        }),
      }),
      { intervalMs: statusIntervalMs, nowMs: elapsedMs },
    ),
    sources: [
      fromCache(operatorConfigs, ({ key }) => (key === defaultPoolKey ? [key] : [])),
      fromCache(states, ({ before, after }) => (equalJson(before?.slot, after?.slot) ? [] : [defaultPoolKey])),
      fromCache(pools, ({ before, after }) => (equalJson(before?.spec, after?.spec) ? [] : [defaultPoolKey])),
      fromCache(nodes, ({ before, after }) =>
        equalJson(before?.metadata.labels, after?.metadata.labels) ? [] : [defaultPoolKey],
      ),
    ],
  };
  return { turns, drains, pauses, defaultPool };
}

/** Whether the Node is there as before, asks for the same, and is in the same MachineConfigPool. */
function isSameRequest({ before, after }: Change<Node>): boolean {
  const { nodeState, desiredMachineConfig } = annotations;
  const said = ({ metadata }: Node) =>
    [nodeState, desiredMachineConfig].map((key) => metadata.annotations?.[key] ?? "");
  return equalJson(before && said(before), after && said(after));
}

/** Whether nobody asks or answers anything else; our conditions are words about it. */
function isSameHandshake({ before, after }: Change<NodeStateFacts>): boolean {
  const said = (state: NodeStateFacts | undefined) => state && { uid: state.uid, ...state.drain, conditions: [] };
  return equalJson(said(before), said(after));
}

function isSameDrain({ before, after }: Change<NodeStateFacts>): boolean {
  const drain = (state: NodeStateFacts | undefined) =>
    state && { uid: state.uid, drain: state.drain, slot: state.slot };
  return equalJson(drain(before), drain(after));
}
