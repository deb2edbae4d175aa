// SPDX-License-Identifier: Apache-2.0
import type { AfxdpStep } from "@switchyard/plan";
import type { AfxdpStepContext } from "./step-context.ts";
import { runEach, type StepOutcomes } from "./step-outcomes.ts";

/** Deactivates the subfunctions, and waits until their devices are gone. If a device stays, the driver refuses the next step. */
export async function deactivateSubfunctions(
  steps: readonly AfxdpStep<"deactivate-subfunction">[],
  { host, pf, signal, portOf, changed, waitForAll }: AfxdpStepContext,
  outcomes: StepOutcomes,
): Promise<void> {
  await runEach(steps, { outcomes, signal }, async ({ sfNumber }) => {
    await host.subfunctions.setActive(pf(), await portOf(sfNumber), false);
  });
  changed();
  const inactive = steps
    .filter((step) => outcomes.has(step) && outcomes.get(step) === undefined)
    .map(({ sfNumber }) => sfNumber);
  if (inactive.length > 0) await waitForAll(inactive, (one) => one?.operationalState !== "attached");
}
