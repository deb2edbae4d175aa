// SPDX-License-Identifier: Apache-2.0
/**
 * createNetworkStatus returns the function that writes the conditions of a network and records an event for each
 * transition, and for a status that another program writes, too.
 */
import { defined, networkAttachmentDefinitions, networkReasons } from "@switchyard/api";
import { isKubeError, type EventRecorder, type Requeue, type Writer } from "@switchyard/kube";
import type { Network, NetworkKind } from "@switchyard/render";
import { conditionsFor, type ConditionSummary } from "../reports/condition-summary.ts";
import { createContestEvents } from "../reports/contest-events.ts";
import { createTransitionEvents } from "../reports/transition-events.ts";

export interface NetworkStatusDeps {
  readonly writers: Readonly<Record<NetworkKind, Pick<Writer<Network>, "applyStatus" | "statusInterference">>>;
  readonly events: EventRecorder;
  readonly now: () => Date;
}

/** Returns when to report again, if nothing else happens. */
export type ReportNetwork = (
  network: Network,
  summary: ConditionSummary,
  signal: AbortSignal,
) => Promise<Requeue | undefined>;

export function createNetworkStatus({ writers, events, now }: NetworkStatusDeps): ReportNetwork {
  const recordTransition = createTransitionEvents(events);
  const recordContest = createContestEvents(events);

  return async function reportNetwork(network, summary, signal) {
    const { name, namespace, uid, generation = 0 } = network.metadata;
    const conditions = conditionsFor(summary, network.status?.conditions ?? [], generation, now());
    const status = { conditions, observedGeneration: generation };
    try {
      const metadata = { name, ...defined({ namespace, uid }) };
      const writer = writers[network.kind];
      const result = await writer.applyStatus({ metadata, status }, signal);
      if (result === "written") recordTransition(network, summary);
      return recordContest(network, writer.statusInterference(network));
    } catch (error) {
      if (!isKubeError(error, "NotFound")) throw error; // the network was deleted meanwhile
      return undefined;
    }
  };
}

export function nadKindMissing(): ConditionSummary {
  const { kind, plural, group } = networkAttachmentDefinitions;
  const message = `the API server does not serve ${kind}s; install Multus or the CRD ${plural}.${group}`;
  return { state: "degraded", reason: networkReasons.notFound, message };
}

export function namespaceMissing(namespace: string): ConditionSummary {
  const message = `namespace ${namespace} does not exist; the NetworkAttachmentDefinition is created as soon as it does`;
  return { state: "degraded", reason: networkReasons.namespaceNotFound, message };
}

export function namespaceTerminating(namespace: string): ConditionSummary {
  const message = `namespace ${namespace} is being deleted; the NetworkAttachmentDefinition is created once it exists again`;
  return { state: "degraded", reason: networkReasons.namespaceNotFound, message };
}

/**
 * nadFailure returns what to report on a network if the API server does not accept its NetworkAttachmentDefinition (NAD). Returns
 * undefined for errors that are not about the network: no connection, a conflict, an overloaded API server.
 */
export function nadFailure(error: unknown, namespace: string): ConditionSummary | undefined {
  if (!isKubeError(error)) return undefined;
  const { code, details } = error;
  if (details?.causes?.some(({ reason }) => reason === "NamespaceTerminating")) return namespaceTerminating(namespace);
  if (code === "NotFound") return details?.kind === "namespaces" ? namespaceMissing(namespace) : nadKindMissing();
  if (!refusals.includes(code)) return undefined;
  const message = `${error.message}; retrying`;
  return { state: "degraded", reason: networkReasons.notFound, message };
}

/** Refusals by admission, quota, permissions or the schema, which only a change by a user can resolve. */
const refusals: readonly string[] = ["Forbidden", "Invalid", "BadRequest", "MethodNotAllowed", "RequestEntityTooLarge"];
