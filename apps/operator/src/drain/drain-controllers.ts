// SPDX-License-Identifier: Apache-2.0
/**
 * startDrainControllers starts the controllers of drains (sriov-operator.md G). "drain-slots" decides which nodes may
 * be drained, "drain" drains each of them. "default-pool-status" reports the slot of nodes in no pool, and on OpenShift
 * "drain-pauses" resumes MachineConfigPools.
 *
 * RBAC: nodes get, list, watch, patch; pods list, watch; pods/eviction create; resourceclaims get; resourceslices list.
 * Also sriovnetworknodestates and afxdpnetworknodestates get, list, watch, patch, and patch of their status; on
 * OpenShift machineconfigs get, machineconfigpools get, list, patch.
 */
import {
  afxdpNetworkNodeStates,
  annotations,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type AfxdpNetworkNodeState,
  type Node,
  type SriovNetworkNodeState,
  type SriovOperatorConfig,
} from "@switchyard/api";
import {
  apiVersionOf,
  createWriter,
  equalJson,
  fromCache,
  type CacheChange,
  type EventToRecord,
  type Transport,
} from "@switchyard/kube";
import type { ClusterCaches } from "../cluster-caches.ts";
import { createFailureLog } from "@switchyard/service/cluster";
import { fieldManagers } from "../field-managers.ts";
import type { LiveRules } from "../facts/live-rules.ts";
import type { ControllerDefinition, OperatorContext } from "../operator-context.ts";
import type { OperatorSettings } from "../start/operator-settings.ts";
import { limitRate } from "../controller-pace.ts";
import { cordonNode, uncordonNode } from "./cordon-node.ts";
import { createDrainAnswers } from "./drain-answers.ts";
import { createDrainReconciler } from "./drain-reconciler.ts";
import { createDrainReporter, type DrainReporter } from "./drain-reporter.ts";
import { createDrainCarriers, createDrainRules, type DrainCarrier, type DrainCarriers } from "./drain-carriers.ts";
import { createClaimedDevices } from "./eviction/claimed-devices.ts";
import { evictPod } from "./eviction/evict-pod.ts";
import { createNodeDrainer } from "./eviction/node-drainer.ts";
import { followNodePods, type NodePods } from "./eviction/node-pods.ts";
import { createDefaultPoolStatusReconciler, defaultPoolKey } from "./slots/default-pool-status-reconciler.ts";
import {
  createDrainPausesReconciler,
  createMachineConfigPools,
  drainPausesKey,
  type MachineConfigPools,
} from "./slots/machine-config-pools.ts";
import { createDrainSlotsReconciler, drainSlotsKey } from "./slots/drain-slots-reconciler.ts";
import { createQueuePositions } from "./slots/queue-positions.ts";

export interface DrainOptions {
  readonly transport: Transport;
  readonly caches: Pick<
    ClusterCaches,
    "nodes" | "states" | "policies" | "pools" | "operatorConfigs" | "afxdpStates" | "afxdpConfigs"
  >;
  /** Result of createDrainRules. */
  readonly rules: LiveRules;
  readonly settings: Pick<OperatorSettings, "namespace" | "clusterType">;
  readonly pods: NodePods;
  /** Records an event. Never fails. */
  readonly record: (news: EventToRecord) => void;
  /** The wall clock. */
  readonly nowMs: () => number;
  /** A monotonic clock. */
  readonly elapsedMs: () => number;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

export interface DrainControllers {
  readonly slots: ControllerDefinition;
  readonly drains: ControllerDefinition;
  /** Undefined if the cluster is not OpenShift. */
  readonly pauses: ControllerDefinition | undefined;
  readonly defaultPool: ControllerDefinition;
}

/** The same interval as for the statuses of pools. */
const statusIntervalMs = 1_000;

/** Short, so that a free slot is assigned well within a second. */
const debounce = { debounceMs: 20, maxDebounceMs: 100 };

export function startDrainControllers(context: OperatorContext): void {
  const { transport, log, settings, signal, events } = context;
  const failed = createFailureLog(log);
  const pods = followNodePods({
    transport,
    resourcePrefix: settings.resourcePrefix,
    maxAgeMs: settings.maxCacheAgeMs,
    report(error, { resource, ageMs }) {
      failed({ resource, ageMs, error }, "watch failed; retrying");
    },
  });
  context.showAges(pods);
  signal.addEventListener("abort", () => void pods[Symbol.asyncDispose](), { once: true });
  const { slots, drains, pauses, defaultPool } = drainControllers({
    ...context,
    rules: createDrainRules({ ...context, ...context.caches }, signal),
    pods,
    record(news) {
      events.record(news);
    },
    elapsedMs: () => performance.now(),
    random: Math.random,
  });
  for (const controller of [slots, drains, defaultPool]) context.start(controller);
  if (pauses !== undefined) context.start(pauses);
}

export function drainControllers(options: DrainOptions): DrainControllers {
  const { transport, caches, rules, settings, pods, nowMs, elapsedMs, random } = options;
  const { nodes, policies, pools, operatorConfigs, afxdpStates, afxdpConfigs } = caches;
  const reads = [nodes, caches.states, policies, pools, operatorConfigs, afxdpStates, afxdpConfigs];
  const states = createDrainCarriers(caches);
  const { namespace } = settings;
  const answers = createDrainAnswers(transport, namespace);
  const positions = createQueuePositions();
  const machineConfigPools = settings.clusterType === "openshift" ? createMachineConfigPools(transport) : undefined;
  const reporter = createReporter(options);
  const drainer = createNodeDrainer({
    devices: createClaimedDevices({ transport, states: caches.states }),
    pods,
    machineConfigPools,
    nowMs,
    elapsedMs,
    random,
    evict: (pod, abort) => evictPod(pod, transport, abort),
    cordon: (node, how, abort) => cordonNode(node, how, { transport, signal: abort }),
    nodeCount: () => nodes.size,
  });

  const slots: ControllerDefinition = {
    name: "drain-slots",
    parallel: 1,
    reads,
    ...debounce,
    reconcile: createDrainSlotsReconciler({ nodes, states, rules, answers, positions, namespace, nowMs }),
    sources: [
      fromCache(nodes, () => [drainSlotsKey]),
      fromCache(states, (change) => (isSameHandshake(change) ? [] : [drainSlotsKey])),
      fromCache(pools, ({ before, after }) => (equalJson(before?.spec, after?.spec) ? [] : [drainSlotsKey])),
      fromCache(operatorConfigs, () => [drainSlotsKey]),
      fromCache(afxdpConfigs, () => [drainSlotsKey]),
    ],
  };
  const drains: ControllerDefinition = {
    name: "drain",
    about: "node",
    parallel: 16,
    reads,
    ...debounce,
    reconcile: createDrainReconciler({
      nodes,
      states,
      rules,
      positions,
      answers,
      reporter,
      drainer,
      namespace,
      nowMs,
      uncordon: (node, abort) => uncordonNode(node, { transport, signal: abort }),
    }),
    sources: [
      fromCache(nodes, ({ key }) => [key]),
      fromCache(states, (change) => (isSameDrain(change) ? [] : [change.key])),
      fromCache(operatorConfigs, () => nodes.keys()),
      fromCache(afxdpConfigs, () => nodes.keys()),
      positions.source,
      pods.source,
    ],
  };
  const pauses = machineConfigPools && pausesController({ nodes, states, reads }, machineConfigPools);
  return { slots, drains, pauses, defaultPool: defaultPoolController(options, { states, reads }) };
}

function createReporter({ transport, caches, settings, record, nowMs, elapsedMs }: DrainOptions): DrainReporter {
  const { namespace } = settings;
  const common = { transport, namespace, manager: fieldManagers.drain };
  const sriov = createWriter<SriovNetworkNodeState>({
    ...common,
    type: sriovNetworkNodeStates,
    cache: caches.states,
  });
  const afxdp = createWriter<AfxdpNetworkNodeState>({
    ...common,
    type: afxdpNetworkNodeStates,
    cache: caches.afxdpStates,
  });
  return createDrainReporter({
    writerOf: (type) => (type === sriovNetworkNodeStates ? sriov : afxdp),
    recordEvent({ type, name, uid }, event) {
      const regarding = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name, namespace, uid } };
      record({ regarding, ...event, action: "Drain" });
      // Administrators look at the node first: kubectl describe node shows events whose uid is the name, as those of kubelets.
      const node = { apiVersion: "v1", kind: "Node", metadata: { name, uid: name } };
      record({ regarding: node, ...event, note: `${event.note} (${type.kind} ${namespace}/${name})`, action: "Drain" });
    },
    now: () => new Date(nowMs()),
    elapsedMs,
  });
}

/** The caches of a controller that follows the drains of all nodes. */
interface DrainReads {
  readonly states: DrainCarriers;
  readonly reads: ControllerDefinition["reads"];
}

function pausesController(
  { nodes, states, reads }: DrainReads & Pick<ClusterCaches, "nodes">,
  machineConfigPools: MachineConfigPools,
): ControllerDefinition {
  return {
    name: "drain-pauses",
    parallel: 1,
    reads,
    ...debounce,
    reconcile: createDrainPausesReconciler({ nodes, states, machineConfigPools }),
    sources: [
      fromCache(nodes, (change) => (isSameRequest(change) ? [] : [drainPausesKey])),
      fromCache(states, (change) => (isSameHandshake(change) ? [] : [drainPausesKey])),
    ],
  };
}

function defaultPoolController(
  { transport, caches, rules, settings, nowMs, elapsedMs }: DrainOptions,
  { states, reads }: DrainReads,
): ControllerDefinition {
  const { nodes, pools, operatorConfigs } = caches;
  const { namespace } = settings;
  return {
    name: "default-pool-status",
    parallel: 1,
    reads,
    reconcile: limitRate(
      createDefaultPoolStatusReconciler({
        nodes,
        states,
        rules,
        configs: operatorConfigs,
        now: () => new Date(nowMs()),
        writer: createWriter<SriovOperatorConfig>({
          transport,
          namespace,
          type: sriovOperatorConfigs,
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
}

/** Reports whether the Node still exists with the same request and in the same MachineConfigPool. */
function isSameRequest({ before, after }: CacheChange<Node>): boolean {
  const { nodeState, desiredMachineConfig } = annotations;
  const values = ({ metadata }: Node) =>
    [nodeState, desiredMachineConfig].map((key) => metadata.annotations?.[key] ?? "");
  return equalJson(before && values(before), after && values(after));
}

/** Reports whether request and answer are the same. The operator's own conditions do not count. */
function isSameHandshake({ before, after }: CacheChange<DrainCarrier>): boolean {
  const handshake = (state: DrainCarrier | undefined) => state && { uid: state.uid, ...state.drain, conditions: [] };
  return equalJson(handshake(before), handshake(after));
}

function isSameDrain({ before, after }: CacheChange<DrainCarrier>): boolean {
  return equalJson(before, after);
}
