// SPDX-License-Identifier: Apache-2.0
/**
 * createOffloadStatusWriter makes the function that writes the status of a decision to the SriovOperatorConfig, and records what
 * has changed as events.
 */
import {
  conditionTypes,
  eventReasons,
  hardwareOffloadReasons,
  operatorConfigName,
  podsWaitingReasons,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type SriovOperatorConfig,
} from "@switchyard/api";
import {
  apiVersionOf,
  setCondition,
  setConditions,
  type EventRecorder,
  type KubeObject,
  type ResourceType,
  type Writer,
} from "@switchyard/kube";
import type { OffloadCaches } from "./caches/offload-caches.ts";
import type { OffloadState, OffloadStatuses } from "./decide/offload-statuses.ts";
import type { WaitingPods } from "./pods/waiting-pods.ts";
import { offloadEvents, type WrittenStatus } from "./offload-events.ts";

export interface OffloadStatusWriterDeps {
  readonly caches: Pick<OffloadCaches, "operatorConfigs" | "states" | "nodes">;
  readonly namespace: string;
  readonly writer: Writer<SriovOperatorConfig>;
  readonly events: Pick<EventRecorder, "record">;
  readonly now: () => Date;
  /** Called once with the hosts that stay as they are because the SriovOperatorConfig does not exist. */
  readonly reportKept: (nodes: readonly string[]) => void;
}

/** Rejects with KubeError. */
export type WriteOffloadStatus = (statuses: OffloadStatuses, signal: AbortSignal) => Promise<void>;

export function createOffloadStatusWriter(deps: OffloadStatusWriterDeps): WriteOffloadStatus {
  const { caches, namespace, writer, events, now } = deps;
  /** The cache shows the written status only later. A SriovOperatorConfig that was created again has none. */
  let last: WrittenStatus | undefined;
  /** Hosts whose events about a missing SriovOperatorConfig are recorded. */
  const told = new Set<string>();

  return async function writeStatus({ pools, overall }, signal) {
    const config = caches.operatorConfigs.get(operatorConfigName);
    if (config === undefined) {
      tellKept(pools);
      return;
    }
    told.clear();
    const { uid, generation } = config.metadata;
    const stored = writtenStatus(config);
    if (overall === undefined && stored.pools.length === 0 && stored.overall === undefined) return;
    const written = pools.map(({ state, message, waitingPods, ...pool }) => {
      const existing = stored.pools.find((one) => one.pool === pool.pool)?.conditions;
      const conditions = setConditions(existing, [...conditionsOf({ state, message }), podsWaiting(waitingPods)], {
        now: now(),
      });
      return { ...pool, ...(waitingPods.count > 0 && { waitingPodCount: waitingPods.count }), conditions };
    });
    const own = config.status?.conditions?.filter(({ type }) => type === conditionTypes.hardwareOffload);
    const condition = overall && overallCondition(overall, generation);
    const conditions = condition && setCondition(own, condition, now());
    const status = { ...(conditions && { conditions }), ...(written.length > 0 && { ovnHardwareOffload: written }) };
    await writer.applyStatus({ metadata: { name: operatorConfigName }, status }, signal);
    const before = last ?? stored;
    last = { pools: written, overall: condition };
    for (const { node, ...event } of offloadEvents(before, last)) {
      const regarding = node === undefined ? reference(sriovOperatorConfigs, operatorConfigName, uid) : stateOf(node);
      if (regarding !== undefined) events.record({ regarding, ...event });
    }
  };

  /** There is no status to write to, so each host gets an event, and the log has a line. */
  function tellKept(pools: OffloadStatuses["pools"]): void {
    const kept = pools.flatMap(({ nodes }) => nodes).filter(({ name }) => !told.has(name));
    if (kept.length > 0) deps.reportKept(kept.map(({ name }) => name));
    for (const { name, missing = "" } of kept) {
      told.add(name);
      // Garbage collection deletes the node states soon after the SriovOperatorConfig.
      const regarding = stateOf(name);
      if (regarding !== undefined) {
        events.record({ regarding, type: "Warning", reason: eventReasons.ovnOffloadHostKept, note: missing });
      }
    }
  }

  /** Undefined if the node was deleted. */
  function stateOf(node: string): KubeObject | undefined {
    const state = caches.states.observed({ name: node, namespace });
    if (state === undefined || caches.nodes.get(node) === undefined) return undefined;
    return reference(sriovNetworkNodeStates, node, state.uid);
  }

  function reference(type: ResourceType, name: string, uid: string | undefined): KubeObject {
    const metadata = { name, namespace, ...(uid !== undefined && { uid }) };
    return { apiVersion: apiVersionOf(type), kind: type.kind, metadata };
  }
}

function writtenStatus({ status }: SriovOperatorConfig): WrittenStatus {
  const overall = status?.conditions?.find(({ type }) => type === conditionTypes.hardwareOffload);
  return { pools: status?.ovnHardwareOffload ?? [], overall };
}

function conditionsOf({ state, message }: OffloadState) {
  const reason = hardwareOffloadReasons[state];
  const text = state === "ready" ? "OVN of all hosts runs on their SmartNIC" : message;
  return (["Ready", "Progressing", "Degraded"] as const).map((type) => ({
    type,
    reason,
    message: text,
    status: type === hardwareOffloadReasons[state] ? ("True" as const) : ("False" as const),
  }));
}

function podsWaiting({ count, names }: WaitingPods) {
  const more = count - names.length;
  const which = `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  const message = `pods cannot start, because they have no network with a VF as default network: ${which}`;
  return count > 0
    ? ({ type: conditionTypes.podsWaiting, status: "True", reason: podsWaitingReasons.noInterface, message } as const)
    : ({
        type: conditionTypes.podsWaiting,
        status: "False",
        reason: podsWaitingReasons.noPods,
        message: "no pod waits",
      } as const);
}

function overallCondition({ state, message }: OffloadState, observedGeneration: number | undefined) {
  return {
    type: conditionTypes.hardwareOffload,
    status: state === "ready" ? ("True" as const) : ("False" as const),
    reason: hardwareOffloadReasons[state],
    message: state === "ready" ? "OVN of all hosts runs on their SmartNIC" : message,
    ...(observedGeneration !== undefined && { observedGeneration }),
  };
}
