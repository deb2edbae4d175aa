// SPDX-License-Identifier: Apache-2.0
/**
 * What became of a network, on the network: its conditions, and an event when they turn.
 * Usage: `await reportNetwork(network, { state: "ready", reason, message }, signal)`.
 */
import { conditionTypes } from "@switchyard/api";
import type { EventRecorder, Writer } from "@switchyard/kube";
import type { Network } from "@switchyard/render";
import { conditionsFor, type Judgement } from "../judgement.ts";
import type { NetworkKind } from "./network-name.ts";

export interface NetworkStatusDeps {
  readonly writers: Readonly<Record<NetworkKind, Pick<Writer<Network>, "applyStatus">>>;
  readonly events: Pick<EventRecorder, "record">;
  readonly now: () => Date;
}

export type ReportNetwork = (network: Network, judgement: Judgement, signal: AbortSignal) => Promise<void>;

/** Writes nothing where nothing differs. */
export function createNetworkStatus({ writers, events, now }: NetworkStatusDeps): ReportNetwork {
  return async function reportNetwork(network, judgement, signal) {
    const { name, namespace, uid, generation = 0 } = network.metadata;
    const conditions = conditionsFor(judgement, network.status?.conditions ?? [], generation, now());
    const result = await writers[network.kind].applyStatus(
      {
        metadata: { name, namespace, ...(uid !== undefined && { uid }) },
        status: { conditions, observedGeneration: generation },
      },
      signal,
    );
    if (result === "unchanged" || !isTurn(network, judgement)) return;
    const { state, reason, message } = judgement;
    events.record({ regarding: network, type: state === "ready" ? "Normal" : "Warning", reason, note: message });
  };
}

/** Whether people want to hear of it: ready now, or in trouble, and other than it was told last. To wait is no trouble. */
function isTurn({ status }: Network, { state, reason, message }: Judgement): boolean {
  const told = status?.conditions?.find(({ type }) => type === conditionTypes.ready);
  if (state === "ready") return told?.status !== "True";
  return state === "degraded" && (told?.status === "True" || told?.reason !== reason || told.message !== message);
}
