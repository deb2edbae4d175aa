// SPDX-License-Identifier: Apache-2.0
import { HostError } from "@switchyard/host";
import type { AfxdpStep } from "@switchyard/plan";
import type { AfxdpStepContext } from "./step-context.ts";
import { runEach, type StepOutcomes } from "./step-outcomes.ts";

/**
 * Activates the subfunctions, and waits for their interfaces, which drivers create later, and for the names by udev: once for all,
 * because each wait for udev takes as long as all events that are pending.
 */
export async function activateSubfunctions(
  steps: readonly AfxdpStep<"activate-subfunction">[],
  context: AfxdpStepContext,
  outcomes: StepOutcomes,
): Promise<void> {
  const { host, pf, device, signal, timing, portOf, changed, waitForAll } = context;
  const requested: StepOutcomes = new Map();
  await runEach(steps, { outcomes: requested, signal }, async ({ sfNumber }) => {
    await host.subfunctions.setActive(pf(), await portOf(sfNumber), true);
  });
  changed();
  const begun = steps.filter((step) => requested.has(step));
  const active = begun.filter((step) => requested.get(step) === undefined);
  const numbers = active.map(({ sfNumber }) => sfNumber);
  const missing = new Set(numbers.length === 0 ? [] : await waitForAll(numbers, (one) => one?.netdev !== undefined));
  await context.settle();
  changed(); // the names
  for (const step of begun) outcomes.set(step, missing.has(step.sfNumber) ? noInterface(step) : requested.get(step));

  function noInterface({ sfNumber }: AfxdpStep<"activate-subfunction">): HostError {
    const target = `subfunction ${sfNumber} of ${device}`;
    const words = `its driver has created none after ${timing.linkTimeoutMs / 1000} s`;
    return new HostError({ action: "wait for network interface", target }, "ETIMEDOUT", { words });
  }
}
