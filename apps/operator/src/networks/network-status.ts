// SPDX-License-Identifier: Apache-2.0
/**
 * createNetworkStatus returns the function that writes the conditions of a network and records an event for each
 * transition.
 * Usage: `const reportNetwork = createNetworkStatus({ writers, events, now });`
 */
import { defined } from "@switchyard/api";
import { isKubeError, type EventRecorder, type Writer } from "@switchyard/kube";
import type { Network } from "@switchyard/render";
import { conditionsFor, type ConditionSummary } from "../status/condition-summary.ts";
import { createTransitionEvents } from "../status/transition-events.ts";
import type { NetworkKind } from "./network-ref.ts";

export interface NetworkStatusDeps {
  readonly writers: Readonly<Record<NetworkKind, Pick<Writer<Network>, "applyStatus">>>;
  readonly events: EventRecorder;
  readonly now: () => Date;
}

export type ReportNetwork = (network: Network, summary: ConditionSummary, signal: AbortSignal) => Promise<void>;

export function createNetworkStatus({ writers, events, now }: NetworkStatusDeps): ReportNetwork {
  const recordTransition = createTransitionEvents(events);

  return async function reportNetwork(network, summary, signal) {
    const { name, namespace, uid, generation = 0 } = network.metadata;
    const conditions = conditionsFor(summary, network.status?.conditions ?? [], generation, now());
    const status = { conditions, observedGeneration: generation };
    try {
      const metadata = { name, ...defined({ namespace, uid }) };
      const result = await writers[network.kind].applyStatus({ metadata, status }, signal);
      if (result === "written") recordTransition(network, summary);
    } catch (error) {
      if (!isKubeError(error, "NotFound")) throw error; // the network was deleted meanwhile
    }
  };
}
