// SPDX-License-Identifier: Apache-2.0
/**
 * What it means for a network that the API server does not take its NetworkAttachmentDefinition.
 * Usage: `const summary = nadFailureSummary(error, "tenant-a"); if (summary === undefined) throw error`.
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

export function namespaceGoing(namespace: string): ConditionSummary {
  const message = `namespace ${namespace} is being deleted; the NetworkAttachmentDefinition is created once it exists again`;
  return { state: "degraded", reason: networkReasons.namespaceNotFound, message };
}

/** Undefined for what says nothing about the network: no connection, a conflict, an API server that is busy. */
export function nadFailureSummary(error: unknown, namespace: string): ConditionSummary | undefined {
  if (!isKubeError(error)) return undefined;
  const { code, details } = error;
  if (details?.causes?.some(({ reason }) => reason === "NamespaceTerminating")) return namespaceGoing(namespace);
  if (code === "NotFound") return details?.kind === "namespaces" ? namespaceMissing(namespace) : nadKindMissing();
  if (!refusals.includes(code)) return undefined;
  const message = `${error.message}; retrying`;
  return { state: "degraded", reason: networkReasons.notFound, message };
}

/** By admission, quota, permissions or the schema: somebody has to do something about them. */
const refusals: readonly string[] = ["Forbidden", "Invalid", "BadRequest", "MethodNotAllowed", "RequestEntityTooLarge"];
