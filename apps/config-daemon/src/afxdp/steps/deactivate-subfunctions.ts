// SPDX-License-Identifier: Apache-2.0
import type { AfxdpStep } from "@switchyard/plan";
import { setStates } from "./set-states.ts";
import type { AfxdpStepContext } from "./step-context.ts";
import type { StepFailures } from "./step-failures.ts";

/** Deactivates the subfunctions, and waits until their devices are gone. If a device stays, the driver refuses the next step. */
export async function deactivateSubfunctions(
  steps: readonly AfxdpStep<"deactivate-subfunction">[],
  context: AfxdpStepContext,
): Promise<StepFailures> {
  const failures = await setStates(steps, false, context);
  const inactive = steps.filter((step) => !failures.has(step)).map(({ sfNumber }) => sfNumber);
  if (inactive.length > 0) await context.waitForAll(inactive, (one) => one?.operationalState !== "attached");
  return failures;
}
