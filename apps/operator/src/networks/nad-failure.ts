// SPDX-License-Identifier: Apache-2.0
/**
 * nadFailure returns what to report on a network if the API server does not accept its NetworkAttachmentDefinition
 * (NAD).
 * Usage: `const summary = nadFailure(error, "tenant-a"); if (summary === undefined) throw error;`
 */
import { networkAttachmentDefinitions, networkReasons } from "@switchyard/api";
import { isKubeError } from "@switchyard/kube";
import type { ConditionSummary } from "../status/condition-summary.ts";

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

/** Returns undefined for errors that are not about the network: no connection, a conflict, an overloaded API server. */
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
