// SPDX-License-Identifier: Apache-2.0
/**
 * operatorConfigSummary returns the state of a SriovOperatorConfig: all its problems at once, else whether the
 * components are deployed as configured. Missing pods only set Progressing, so that one node that is down for long does
 * not unset Ready.
 */
import { operatorConfigName, operatorConfigReasons } from "@switchyard/api";
import { isKubeError } from "@switchyard/kube";
import type { RenderedComponents } from "@switchyard/render";
import type { ConditionSummary } from "../reports/condition-summary.ts";
import type { SyncOutcome } from "./sync-components.ts";
import type { SyncFailure } from "./component-objects.ts";

const { ready, fieldsReplaced, offloadServiceMissing, rollingOut, syncFailed, unsupported } = operatorConfigReasons;

/** Most characters of the message. */
const maxMessageLength = 4_000;

/** `unserved` says that spec.ovnHardwareOffload has no effect; undefined if it has one, or nothing is requested. */
export function operatorConfigSummary(
  { components, problems }: RenderedComponents,
  outcome: SyncOutcome,
  unserved?: Unserved,
): ConditionSummary {
  const texts = (severity: "error" | "warning") =>
    problems.filter((problem) => problem.severity === severity).map(({ field, message }) => `${field}: ${message}`);
  const errors = texts("error");
  const warnings = [...texts("warning"), ...(unserved === undefined ? [] : [unserved.message])];
  const refusals = outcome.failures.map(describeFailure);
  const join = (...sentences: readonly string[]) => cut([...sentences, ...warnings].join("; "));

  const { incomplete, pending, unplaced = [] } = outcome;
  const progress = pending.length === 0 ? undefined : { reason: rollingOut, message: cut(pending.join("; ")) };

  if (errors.length > 0) {
    return { state: "degraded", reason: unsupported, message: join(...errors, ...refusals), progress };
  }
  if (refusals.length > 0) return { state: "degraded", reason: syncFailed, message: join(...refusals), progress };
  if (incomplete.length + unplaced.length > 0) {
    return { state: "progressing", reason: rollingOut, message: join(...unplaced, ...incomplete, ...pending) };
  }
  const deployed = components.filter(({ state, objects }) => {
    return state === "deployed" && objects.some(({ kind }) => kind === "DaemonSet");
  });
  const names = deployed.map(({ name }) => name).join(", ");
  const message = join(names === "" ? "all components are disabled" : `deployed as configured: ${names}`);
  if (outcome.replaced.length === 0) {
    if (unserved?.isLate !== true) return { state: "ready", reason: ready, message, progress };
    return { state: "ready", reason: offloadServiceMissing, message, progress, isWarning: true };
  }
  const warned = cut([...outcome.replaced, message].join("; "));
  return { state: "ready", reason: fieldsReplaced, message: warned, progress, isWarning: true };
}

/** Why spec.ovnHardwareOffload has no effect. */
export interface Unserved {
  readonly message: string;
  /** Whether the service had enough time to report. */
  readonly isLate: boolean;
}

/** For a SriovOperatorConfig that is not named "default". */
export const unusedConfigSummary: ConditionSummary = {
  state: "degraded",
  reason: unsupported,
  message: `metadata.name: this object has no effect; only the SriovOperatorConfig "${operatorConfigName}" is used`,
};

/** Returns for example "ClusterRole operator-webhook: Forbidden (…)". */
export function describeFailure({ kind, name, error }: SyncFailure): string {
  const words = isKubeError(error) ? error.message.slice(`${error.tried}: `.length) : String(error);
  return `${kind} ${name}: ${words}${adviceOn(kind, name, error)}`;
}

/** An apply cannot remove a field of another client: a webhook with a url and a service is refused again and again. */
function adviceOn(kind: string, name: string, error: unknown): string {
  const causes = isKubeError(error, "Invalid") ? (error.details?.causes ?? []) : [];
  const cause = causes.find(({ field = "" }) => /^webhooks\[\d+\]\.clientConfig$/.test(field));
  if (cause?.field === undefined) return "";
  return (
    `; another client has set ${cause.field}.url beside the operator's service: remove the url, or run ` +
    `kubectl delete ${kind.toLowerCase()} ${name}, after which the operator creates the object again`
  );
}

function cut(text: string): string {
  return text.length <= maxMessageLength ? text : `${text.slice(0, maxMessageLength - 1)}…`;
}
