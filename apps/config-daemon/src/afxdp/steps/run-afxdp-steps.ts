// SPDX-License-Identifier: Apache-2.0
/**
 * runAfxdpSteps runs steps that batchesOf() has put together: one step of any kind, or those of several subfunctions that wait for
 * drivers, which wait at the same time.
 * Usage: `for (const batch of batchesOf(steps)) await runAfxdpSteps(batch, context);`
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
import type { StepFailures } from "./step-failures.ts";

/** Limits how long the steps of one batch take, because they share a deadline. */
const maxBatch = 64;

/** Returns the steps in their order, in groups that runAfxdpSteps runs together. */
export function batchesOf(steps: readonly AfxdpStep[]): readonly (readonly AfxdpStep[])[] {
  const batches: AfxdpStep[][] = [];
  for (const step of steps) {
    const last = batches.at(-1);
    const isTogether = step.kind === "activate-subfunction" || step.kind === "deactivate-subfunction";
    if (isTogether && last?.[0]?.kind === step.kind && last.length < maxBatch) last.push(step);
    else batches.push([step]);
  }
  return batches;
}

/** Resolves with the steps that failed. Rejects if all failed for the same reason. */
export async function runAfxdpSteps(steps: readonly AfxdpStep[], context: AfxdpStepContext): Promise<StepFailures> {
  const activations = steps.filter((step) => step.kind === "activate-subfunction");
  if (activations.length > 0) return activateSubfunctions(activations, context);
  const deactivations = steps.filter((step) => step.kind === "deactivate-subfunction");
  if (deactivations.length > 0) return deactivateSubfunctions(deactivations, context);
  for (const step of steps) await runStep(step, context);
  return new Map();
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
