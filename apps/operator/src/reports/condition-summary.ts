// SPDX-License-Identifier: Apache-2.0
/**
 * ConditionSummary is the state of an object in one value. conditionsFor turns it into the three conditions that users
 * wait for: Ready, Progressing and Degraded (sriov-operator.md K.1).
 */
import { conditionTypes, policyReasons, type Condition } from "@switchyard/api";
import { setConditions, type NewCondition } from "@switchyard/kube";

export interface ConditionSummary {
  /** "idle" means that nothing matches, so there is nothing to do: all three conditions are False. */
  readonly state: "ready" | "progressing" | "degraded" | "idle";
  readonly reason: string;
  readonly message: string;
  /** Whether the event of the transition is a warning although the state is not "degraded". */
  readonly isWarning?: true;
  /** Work that continues in any state. It sets Progressing to True, with this reason and message. */
  readonly progress?: { readonly reason: string; readonly message: string } | undefined;
}

interface Conditioned {
  readonly metadata: { readonly generation?: number };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** For policies and pools while SriovOperatorConfig "default" does not exist (sriov-operator.md B.1). */
export const withoutOperatorConfig: ConditionSummary = {
  state: "idle",
  reason: policyReasons.noOperatorConfig,
  message: 'SriovOperatorConfig "default" does not exist in this namespace; the operator manages nothing',
};

/** Reports whether the object has Ready=True for its current generation. */
export function isReady({ metadata, status }: Conditioned): boolean {
  const ready = status?.conditions?.find(({ type }) => type === conditionTypes.ready);
  return ready?.status === "True" && ready.observedGeneration === (metadata.generation ?? 0);
}

/**
 * Returns the conditions Ready, Progressing and Degraded. Conditions of other types are left out: other writers own
 * them.
 */
export function conditionsFor(
  { state, reason, message, progress }: ConditionSummary,
  existing: readonly Condition[],
  observedGeneration: number,
  now: Date,
): readonly Condition[] {
  const { ready, progressing, degraded } = conditionTypes;
  const set = (type: string, holds: boolean, why: Pick<NewCondition, "reason" | "message">): NewCondition => {
    return { type, status: holds ? "True" : "False", ...why };
  };
  const next = [
    set(ready, state === "ready", { reason, message }),
    set(progressing, state === "progressing" || progress !== undefined, progress ?? { reason, message }),
    set(degraded, state === "degraded", { reason, message }),
  ];
  return setConditions(existing, next, { now, observedGeneration, types: [ready, progressing, degraded] });
}
