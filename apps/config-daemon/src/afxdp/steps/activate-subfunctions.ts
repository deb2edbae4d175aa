// SPDX-License-Identifier: Apache-2.0
import { HostError } from "@switchyard/host";
import type { AfxdpStep } from "@switchyard/plan";
import { setStates } from "./set-states.ts";
import type { AfxdpStepContext } from "./step-context.ts";
import type { StepFailures } from "./step-failures.ts";

/**
 * Activates the subfunctions, and waits for their interfaces, which drivers create later, and for the names by udev: once for all,
 * because each wait for udev takes as long as all events that are pending.
 */
export async function activateSubfunctions(
  steps: readonly AfxdpStep<"activate-subfunction">[],
  context: AfxdpStepContext,
): Promise<StepFailures> {
  const { device, timing, waitForAll } = context;
  const failures = await setStates(steps, true, context);
  const active = steps.filter((step) => !failures.has(step));
  if (active.length === 0) return failures;
  const missing = new Set(
    await waitForAll(
      active.map(({ sfNumber }) => sfNumber),
      (one) => one?.netdev !== undefined,
    ),
  );
  for (const step of active.filter(({ sfNumber }) => missing.has(sfNumber))) {
    const target = `subfunction ${step.sfNumber} of ${device}`;
    const words = `its driver has created none after ${timing.linkTimeoutMs / 1000} s`;
    failures.set(step, new HostError({ action: "wait for network interface", target }, "ETIMEDOUT", { words }));
  }
  await context.settle();
  context.changed(); // the names
  return failures;
}
