// SPDX-License-Identifier: Apache-2.0
import type { AfxdpStep } from "@switchyard/plan";
import type { AfxdpStepContext } from "./step-context.ts";
import type { StepFailures } from "./step-failures.ts";

/** Activates or deactivates subfunctions, one after another: a driver handles one request of a PF at a time. */
export async function setStates(
  steps: readonly AfxdpStep<"activate-subfunction" | "deactivate-subfunction">[],
  active: boolean,
  { host, pf, portOf, changed }: AfxdpStepContext,
): Promise<StepFailures> {
  const failures: StepFailures = new Map();
  for (const step of steps) {
    try {
      await host.subfunctions.setActive(pf(), await portOf(step.sfNumber), active);
    } catch (error) {
      failures.set(step, error);
    }
  }
  changed();
  return failures;
}
