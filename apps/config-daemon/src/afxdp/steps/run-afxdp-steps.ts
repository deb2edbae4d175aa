// SPDX-License-Identifier: Apache-2.0
/**
 * runAfxdpSteps runs the steps of one kind that batchesOf() has put together. Those that wait for drivers wait at the same time.
 * Usage: `for (const batch of batchesOf(steps)) await runAfxdpSteps(batch, context, outcomes);`
 */
import type { AfxdpStep } from "@switchyard/plan";
import { activateSubfunctions } from "./activate-subfunctions.ts";
import { createSubfunction } from "./create-subfunction.ts";
import { deactivateSubfunctions } from "./deactivate-subfunctions.ts";
import { deleteSubfunction } from "./delete-subfunction.ts";
import { releaseDevice } from "./release-device.ts";
import { setEswitchMode } from "./set-eswitch-mode.ts";
import { setLinkUp, setMtu, setQueues } from "./set-interface.ts";
import { setSubfunctionMac } from "./set-subfunction-mac.ts";
import type { AfxdpStepContext } from "./step-context.ts";
import { runEach, type StepOutcomes } from "./step-outcomes.ts";

/** Limits how long the steps of one batch take, because they share a deadline. */
const maxBatch = 64;

/** Returns the steps in their order, in groups of steps of the same kind for several subfunctions. */
export function batchesOf(steps: readonly AfxdpStep[]): readonly (readonly AfxdpStep[])[] {
  const batches: AfxdpStep[][] = [];
  for (const step of steps) {
    const last = batches.at(-1);
    const isTogether = "sfNumber" in step && last?.[0]?.kind === step.kind && last.length < maxBatch;
    if (isTogether) last.push(step);
    else batches.push([step]);
  }
  return batches;
}

/** Sets the outcome of each step when it has ended. Rejects if the steps fail for a common reason. */
export async function runAfxdpSteps(
  steps: readonly AfxdpStep[],
  context: AfxdpStepContext,
  outcomes: StepOutcomes,
): Promise<void> {
  const activations = steps.filter((step) => step.kind === "activate-subfunction");
  const deactivations = steps.filter((step) => step.kind === "deactivate-subfunction");
  if (activations.length > 0) await activateSubfunctions(activations, context, outcomes);
  else if (deactivations.length > 0) await deactivateSubfunctions(deactivations, context, outcomes);
  else await runEach(steps, { outcomes, signal: context.signal }, (step) => runStep(step, context));
}

async function runStep(step: AfxdpStep, context: AfxdpStepContext): Promise<void> {
  switch (step.kind) {
    case "set-eswitch-mode":
      return setEswitchMode(step, context);
    case "set-link-up":
      return setLinkUp(step, context);
    case "set-mtu":
      return setMtu(step, context);
    case "set-queues":
      return setQueues(step, context);
    case "create-subfunction":
      return createSubfunction(step, context);
    case "set-subfunction-mac":
      return setSubfunctionMac(step, context);
    case "delete-subfunction":
      return deleteSubfunction(step, context);
    case "release-device":
      return releaseDevice(step, context);
    case "activate-subfunction":
    case "deactivate-subfunction":
      return; // above
  }
}
