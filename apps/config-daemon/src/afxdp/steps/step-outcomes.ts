// SPDX-License-Identifier: Apache-2.0
import type { AfxdpStep } from "@switchyard/plan";

/** The steps that have ended, with the errors of those that failed, and undefined for the others. */
export type StepOutcomes = Map<AfxdpStep, unknown>;

/** Runs steps one after another. A step that fails does not stop the others; `signal` ends them after the running one. */
export async function runEach<Step extends AfxdpStep>(
  steps: readonly Step[],
  { outcomes, signal }: { readonly outcomes: StepOutcomes; readonly signal: AbortSignal },
  run: (step: Step) => Promise<void>,
): Promise<void> {
  for (const step of steps) {
    if (signal.aborted) return;
    try {
      await run(step);
      outcomes.set(step, undefined);
    } catch (error) {
      outcomes.set(step, error);
    }
  }
}
