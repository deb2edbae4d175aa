// SPDX-License-Identifier: Apache-2.0
/**
 * withoutRefused leaves out the steps that the host has refused several times in the same way. To try them again would drain the
 * node again for the same answer. The daemon decides when a refusal no longer counts, and removes it from the status.
 */
import type { InterfaceStatus, RefusedChange, SriovNetworkNodeStateStatus } from "@switchyard/api";
import { reasonsToDrain, type FieldOf, type Reason } from "./impact.ts";
import type { PlanProblem } from "./problem.ts";
import { describeStep, disruptionOf, disruptsNode, isOfNode, type NodeStep, type PfStep } from "./steps/step.ts";

/** What is asked about the steps of a change. */
export interface RefusableSteps<OneStep> {
  readonly describe: (step: OneStep) => string;
  readonly isDisruptive: (step: OneStep) => boolean;
}

/**
 * Returns the steps without those of the refused attempts, or undefined if all of them may be tried. All steps of the attempts are
 * left out, also harmless ones: they either have failed, too, or only prepare the disruptive ones. A disruptive step that was not
 * part of them shows that something else is to be done now, and nothing is left out.
 */
export function withoutRefused<OneStep>(
  steps: readonly OneStep[],
  refused: RefusedChange | undefined,
  { describe, isDisruptive }: RefusableSteps<OneStep>,
): readonly OneStep[] | undefined {
  if (refused === undefined) return undefined;
  const changes = new Set(refused.changes);
  const isRefused = (step: OneStep): boolean => changes.has(describe(step));
  const disruptive = steps.filter(isDisruptive);
  if (disruptive.length === 0 || !disruptive.every(isRefused)) return undefined;
  return steps.filter((step) => !isRefused(step));
}

/** Leaves out the refused steps of a PF. */
export function withoutRefusedOfPf(
  pf: InterfaceStatus,
  steps: readonly PfStep[],
  fieldOf: FieldOf,
): { readonly steps: readonly PfStep[]; readonly problem?: PlanProblem } {
  const { pciAddress, refused } = pf;
  const isDisruptive = (step: PfStep): boolean => disruptionOf(step, pf) !== undefined;
  const rest = withoutRefused(steps, refused, { describe: describeStep, isDisruptive });
  const [reason] = reasonsToDrain(steps, pf, fieldOf);
  if (rest === undefined || refused === undefined || reason === undefined) return { steps };
  const message = describeRefusal(refused, "the PF stays as it is until its spec, its driver or its VFs change");
  return { steps: rest, problem: { code: "refused", field: reason.field, pciAddress, message } };
}

/** Leaves out the refused steps of the whole node. `reasons` says why the steps disrupt pods. */
export function withoutRefusedOfNode(
  { system, interfaces }: SriovNetworkNodeStateStatus,
  steps: readonly NodeStep[],
  reasons: readonly Reason[],
): { readonly isRefused: (step: NodeStep) => boolean; readonly problem: PlanProblem } | undefined {
  const refused = system?.refused;
  const isDisruptive = (step: NodeStep): boolean => disruptsNode(step, { interfaces: interfaces ?? [] });
  const ofNode = steps.filter(isOfNode);
  const rest = withoutRefused(ofNode, refused, { describe: describeStep, isDisruptive });
  const [reason] = reasons;
  if (rest === undefined || refused === undefined || reason === undefined) return undefined;
  const { text: _text, ...at } = reason;
  const message = describeRefusal(refused, "the node stays as it is until its spec changes");
  return {
    isRefused: (step) => isOfNode(step) && !rest.includes(step),
    problem: { ...at, code: "refused", message },
  };
}

/** Returns what was tried, the answer, and when it is tried again. `until` is the part of the sentence after "so". */
export function describeRefusal({ error, attempts }: RefusedChange, until: string): string {
  return (
    `${error}; this has failed ${attempts} times in the same way, so ${until}, or for at most 6 hours; ` +
    "to try at once, restart the config daemon of the node"
  );
}
