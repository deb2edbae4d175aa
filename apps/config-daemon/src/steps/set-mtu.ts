// SPDX-License-Identifier: Apache-2.0
import type { PfStep } from "@switchyard/plan";
import type { StepContext } from "./step-context.ts";

/** Sets the MTU of the network interface of the PF. */
export async function setPfMtu(step: PfStep<"set-pf-mtu">, context: StepContext): Promise<void> {
  await context.host.links.setMtu((await context.pfLink()).name, step.to);
}

/** Waits for the network interface of the VF and sets its MTU. */
export async function setVfMtu(step: PfStep<"set-vf-mtu">, context: StepContext): Promise<void> {
  const link = await context.vfLink(step.vfId);
  if (link.mtu !== step.to) await context.host.links.setMtu(link.name, step.to);
}
