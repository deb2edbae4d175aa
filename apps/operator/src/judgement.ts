// SPDX-License-Identifier: Apache-2.0
/**
 * One judgement of an object, as the three conditions that users wait for (sriov-operator.md K.1).
 * Usage: `conditionsFor({ state: "ready", reason, message }, existing, generation, new Date())`.
 */
import { conditionTypes, policyReasons, type Condition } from "@switchyard/api";
import { setCondition } from "@switchyard/kube";

export interface Judgement {
  /** "idle" is neither ready nor under way, and nobody's fault: nothing matches. */
  readonly state: "ready" | "progressing" | "degraded" | "idle";
  readonly reason: string;
  readonly message: string;
}

/** What has these conditions. */
interface Judged {
  readonly metadata: { readonly generation?: number };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Of all policies and pools while nobody asked us to manage anything (sriov-operator.md B.1). */
export const withoutOperatorConfig: Judgement = {
  state: "idle",
  reason: policyReasons.noOperatorConfig,
  message: 'there is no SriovOperatorConfig "default" in this namespace: nothing is managed',
};

/** Whether the object's condition says so of the generation that it has. */
export function isReady({ metadata, status }: Judged): boolean {
  const ready = status?.conditions?.find(({ type }) => type === conditionTypes.ready);
  return ready?.status === "True" && ready.observedGeneration === (metadata.generation ?? 0);
}

/** Ready, Progressing and Degraded; their times move only with their status. */
export function conditionsFor(
  { state, reason, message }: Judgement,
  existing: readonly Condition[],
  observedGeneration: number,
  now: Date,
): readonly Condition[] {
  const { ready, progressing, degraded } = conditionTypes;
  // Others write conditions of other types, and would lose them to whoever sends them along.
  const ours = ({ type }: Condition): boolean => type === ready || type === progressing || type === degraded;
  let conditions: readonly Condition[] = existing.filter(ours);
  for (const [type, holds] of [
    [ready, state === "ready"],
    [progressing, state === "progressing"],
    [degraded, state === "degraded"],
  ] as const) {
    const status = holds ? "True" : "False";
    conditions = setCondition(conditions, { type, status, reason, message, observedGeneration }, now);
  }
  return conditions;
}
