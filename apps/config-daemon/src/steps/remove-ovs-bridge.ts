// SPDX-License-Identifier: Apache-2.0
import type { PfStep } from "@switchyard/plan";
import { removeBridgeRule } from "../udev/bridge-rules.ts";
import type { StepContext } from "./step-context.ts";

/** Removes a bridge that Switchyard created, and its udev rule. */
export async function removeOvsBridge(step: PfStep<"remove-ovs-bridge">, { host }: StepContext): Promise<void> {
  // The rule first: without the bridge, nothing would tell the next daemon that the rule is left.
  await removeBridgeRule(host, step.bridge);
  await host.ovs.removeBridge(step.bridge);
}

/** Removes ports from a bridge that Switchyard created. */
export async function removeOvsPorts(step: PfStep<"remove-ovs-ports">, { host }: StepContext): Promise<void> {
  await host.ovs.removePorts(step.bridge, step.ports);
}
