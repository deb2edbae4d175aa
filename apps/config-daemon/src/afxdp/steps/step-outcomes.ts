// SPDX-License-Identifier: Apache-2.0
import type { AfxdpStep } from "@switchyard/plan";

/** The steps that have ended, with the errors of those that failed, and undefined for the others. */
export type StepOutcomes = Map<AfxdpStep, unknown>;

/** Runs steps one after another. A step that fails does not stop the others. */
export async function runEach<Step extends AfxdpStep>(
  steps: readonly Step[],
  outcomes: StepOutcomes,
  run: (step: Step) => Promise<void>,
): Promise<void> {
  for (const step of steps) {
    try {
      await run(step);
      outcomes.set(step, undefined);
    } catch (error) {
      outcomes.set(step, error);
    }
  }
}
