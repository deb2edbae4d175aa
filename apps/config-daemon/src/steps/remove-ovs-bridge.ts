// SPDX-License-Identifier: Apache-2.0
import type { PfStep } from "@switchyard/plan";
import type { StepContext } from "./step-context.ts";

/** Removes a bridge that Switchyard created. */
export async function removeOvsBridge(step: PfStep<"remove-ovs-bridge">, { host }: StepContext): Promise<void> {
  await host.ovs.removeBridge(step.bridge);
}

/** Removes ports from a bridge that Switchyard created. */
export async function removeOvsPorts(step: PfStep<"remove-ovs-ports">, { host }: StepContext): Promise<void> {
  await host.ovs.removePorts(step.bridge, step.ports);
}
