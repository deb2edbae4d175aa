// SPDX-License-Identifier: Apache-2.0
import { HostError } from "@switchyard/host";
import type { AfxdpStep } from "@switchyard/plan";
import { portOf } from "./port-of.ts";
import type { AfxdpStepContext } from "./step-context.ts";

/** Activates the subfunction, and waits for its interface, which its driver creates later, and for the name by udev. */
export async function activateSubfunction(
  { sfNumber }: AfxdpStep<"activate-subfunction">,
  context: AfxdpStepContext,
): Promise<void> {
  const { host, device, timing, waitFor } = context;
  await host.subfunctions.setActive(context.pf(), await portOf(sfNumber, context), true);
  if (!(await waitFor(sfNumber, (one) => one?.netdev !== undefined))) {
    const target = `subfunction ${sfNumber} of ${device}`;
    const words = `its driver has created none after ${timing.linkTimeoutMs / 1000} s`;
    throw new HostError({ action: "wait for network interface", target }, "ETIMEDOUT", { words });
  }
  await context.settle();
}
