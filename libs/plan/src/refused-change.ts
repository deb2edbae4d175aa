// SPDX-License-Identifier: Apache-2.0
/**
 * withoutRefused leaves out the steps of a PF that the host has refused several times in the same way. To try them again would
 * drain the node again for the same answer. The daemon decides when a refusal no longer counts, and removes it from the status.
 */
import type { InterfaceStatus, RefusedChange } from "@switchyard/api";
import { reasonsToDrain, type FieldOf } from "./impact.ts";
import type { PlanProblem } from "./problem.ts";
import { describeStep, disruptionOf, type PfStep } from "./steps/step.ts";

/**
 * All steps of the refused attempts are left out, also harmless ones: they either have failed, too, or only prepare the
 * disruptive ones. A disruptive step that was not part of them shows that something else is to be done now, and nothing is left
 * out.
 */
export function withoutRefused(
  pf: InterfaceStatus,
  steps: readonly PfStep[],
  fieldOf: FieldOf,
): { readonly steps: readonly PfStep[]; readonly problem?: PlanProblem } {
  const { pciAddress, refused } = pf;
  const [reason] = refused === undefined ? [] : reasonsToDrain(steps, pf, fieldOf);
  if (refused === undefined || reason === undefined) return { steps };
  const changes = new Set(refused.changes);
  const isRefused = (step: PfStep) => changes.has(describeStep(step));
  if (steps.some((step) => disruptionOf(step, pf) !== undefined && !isRefused(step))) return { steps };
  return {
    steps: steps.filter((step) => !isRefused(step)),
    problem: { code: "refused", field: reason.field, pciAddress, message: describeRefusal(refused) },
  };
}

/** Returns what was tried, the answer, and when it is tried again. */
export function describeRefusal({ error, attempts }: RefusedChange): string {
  return (
    `${error}; this has failed ${attempts} times in the same way, so the PF stays as it is until its spec, its driver or its ` +
    "VFs change, or for at most 6 hours; to try at once, restart the config daemon of the node"
  );
}
