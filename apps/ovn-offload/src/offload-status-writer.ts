// SPDX-License-Identifier: Apache-2.0
/**
 * createOffloadStatusWriter makes the function that writes the status of a decision to the SriovOperatorConfig, and records what
 * has changed as events.
 * Usage: `const writeStatus = createOffloadStatusWriter(deps); await writeStatus(decide(observed), signal);`
 */
import {
  conditionTypes,
  operatorConfigName,
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
}

/** Rejects with KubeError. */
export type WriteOffloadStatus = (statuses: OffloadStatuses, signal: AbortSignal) => Promise<void>;

export function createOffloadStatusWriter(deps: OffloadStatusWriterDeps): WriteOffloadStatus {
  const { caches, namespace, writer, events, now } = deps;
  /** The cache shows the written status only later. */
  let last: { readonly uid: string | undefined; readonly status: WrittenStatus } | undefined;

  return async function writeStatus({ pools, overall }, signal) {
    const config = caches.operatorConfigs.get(operatorConfigName);
    if (config === undefined) return;
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
    const before = last !== undefined && last.uid === uid ? last.status : stored;
    last = { uid, status: { pools: written, overall: condition } };
    for (const { node, ...event } of offloadEvents(before, last.status)) {
      const regarding = node === undefined ? reference(sriovOperatorConfigs, operatorConfigName, uid) : stateOf(node);
      if (regarding !== undefined) events.record({ regarding, ...event });
    }
  };

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

const reasons = { ready: "Ready", progressing: "Progressing", degraded: "Degraded" } as const;

function conditionsOf({ state, message }: OffloadState) {
  const reason = reasons[state];
  const text = state === "ready" ? "OVN of all hosts runs on their SmartNIC" : message;
  return (["Ready", "Progressing", "Degraded"] as const).map((type) => ({
    ...{ type, reason, message: text },
    status: type === reasons[state] ? ("True" as const) : ("False" as const),
  }));
}

function podsWaiting({ count, names }: WaitingPods) {
  const more = count - names.length;
  const which = `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  const message = `pods cannot start, because they have no network with a VF as default network: ${which}`;
  return count > 0
    ? ({ type: conditionTypes.podsWaiting, status: "True", reason: "NoInterface", message } as const)
    : ({ type: conditionTypes.podsWaiting, status: "False", reason: "NoPods", message: "no pod waits" } as const);
}

function overallCondition({ state, message }: OffloadState, observedGeneration: number | undefined) {
  return {
    type: conditionTypes.hardwareOffload,
    status: state === "ready" ? ("True" as const) : ("False" as const),
    reason: reasons[state],
    message: state === "ready" ? "OVN of all hosts runs on their SmartNIC" : message,
    ...(observedGeneration !== undefined && { observedGeneration }),
  };
}
