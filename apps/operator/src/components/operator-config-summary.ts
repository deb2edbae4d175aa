// SPDX-License-Identifier: Apache-2.0
/**
 * What is said of a SriovOperatorConfig: all that is wrong with it at once, else whether it is deployed as configured.
 * Pods that are missing are Progressing, beside that: one node that is away for long makes nothing unready.
 * Usage: `operatorConfigSummary(rendered, outcome)`.
 */
import { operatorConfigName, operatorConfigReasons } from "@switchyard/api";
import { isKubeError } from "@switchyard/kube";
import type { RenderedComponents } from "@switchyard/render";
import type { ConditionSummary } from "../status/condition-summary.ts";
import type { SyncFailure, SyncOutcome } from "./sync-components.ts";

const { ready, rollingOut, syncFailed, unsupported } = operatorConfigReasons;

/** A condition's message has at most 32 KiB; this much somebody reads. */
const longestMessage = 4_000;

export function operatorConfigSummary(
  { components, problems }: RenderedComponents,
  outcome: SyncOutcome,
): ConditionSummary {
  const texts = (severity: "error" | "warning") =>
    problems.filter((problem) => problem.severity === severity).map(({ field, message }) => `${field}: ${message}`);
  const [errors, warnings] = [texts("error"), texts("warning")];
  const refusals = outcome.failures.map(describeFailure);
  const say = (...sentences: readonly string[]) => cut([...sentences, ...warnings].join("; "));

  const { incomplete, pending } = outcome;
  const progress = pending.length === 0 ? undefined : { reason: rollingOut, message: cut(pending.join("; ")) };

  if (errors.length > 0) {
    return { state: "degraded", reason: unsupported, message: say(...errors, ...refusals), progress };
  }
  if (refusals.length > 0) return { state: "degraded", reason: syncFailed, message: say(...refusals), progress };
  if (incomplete.length > 0) {
    return { state: "progressing", reason: rollingOut, message: say(...incomplete, ...pending) };
  }
  const deployed = components.filter(({ state, objects }) => {
    return state === "deployed" && objects.some(({ kind }) => kind === "DaemonSet");
  });
  const names = deployed.map(({ name }) => name).join(", ");
  const message = say(names === "" ? "all components are disabled" : `deployed as configured: ${names}`);
  return { state: "ready", reason: ready, message, progress };
}

/** Of a SriovOperatorConfig with another name: there is one only. */
export const unusedConfigSummary: ConditionSummary = {
  state: "degraded",
  reason: unsupported,
  message: `metadata.name: this object has no effect; only the SriovOperatorConfig "${operatorConfigName}" is used`,
};

/** "ClusterRole operator-webhook: Forbidden (…)". */
export function describeFailure({ kind, name, error }: SyncFailure): string {
  return `${kind} ${name}: ${isKubeError(error) ? error.message.slice(`${error.tried}: `.length) : String(error)}`;
}

function cut(text: string): string {
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage - 1)}…`;
}
