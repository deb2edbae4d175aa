// SPDX-License-Identifier: Apache-2.0
/**
 * One summary of an object, as the three conditions that users wait for (sriov-operator.md K.1).
 * Usage: `conditionsFor({ state: "ready", reason, message }, existing, generation, new Date())`.
 */
import { conditionTypes, policyReasons, type Condition } from "@switchyard/api";
import { setCondition } from "@switchyard/kube";

export interface ConditionSummary {
  /** "idle" is neither ready nor under way, and nobody's fault: nothing matches. */
  readonly state: "ready" | "progressing" | "degraded" | "idle";
  readonly reason: string;
  readonly message: string;
  /** Work that goes on whatever the state: then Progressing is True for it, too, and says what it is. */
  readonly progress?: { readonly reason: string; readonly message: string } | undefined;
}

/** What has these conditions. */
interface Judged {
  readonly metadata: { readonly generation?: number };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Of all policies and pools while nobody asked us to manage anything (sriov-operator.md B.1). */
export const withoutOperatorConfig: ConditionSummary = {
  state: "idle",
  reason: policyReasons.noOperatorConfig,
  message: 'SriovOperatorConfig "default" does not exist in this namespace; the operator manages nothing',
};

/** Whether the object's condition says so of the generation that it has. */
export function isReady({ metadata, status }: Judged): boolean {
  const ready = status?.conditions?.find(({ type }) => type === conditionTypes.ready);
  return ready?.status === "True" && ready.observedGeneration === (metadata.generation ?? 0);
}

/** Ready, Progressing and Degraded; their times move only with their status. */
export function conditionsFor(
  { state, reason, message, progress }: ConditionSummary,
  existing: readonly Condition[],
  observedGeneration: number,
  now: Date,
): readonly Condition[] {
  const { ready, progressing, degraded } = conditionTypes;
  // Others write conditions of other types, and would lose them to whoever sends them along.
  const ours = ({ type }: Condition): boolean => type === ready || type === progressing || type === degraded;
  let conditions: readonly Condition[] = existing.filter(ours);
  const told = { reason, message };
  for (const [type, holds, why] of [
    [ready, state === "ready", told],
    [progressing, state === "progressing" || progress !== undefined, progress ?? told],
    [degraded, state === "degraded", told],
  ] as const) {
    conditions = setCondition(conditions, { type, status: holds ? "True" : "False", ...why, observedGeneration }, now);
  }
  return conditions;
}
