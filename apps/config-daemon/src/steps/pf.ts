// SPDX-License-Identifier: Apache-2.0
/** Runs the steps that configure a PF itself, and those that set MTUs. */
import { HostError } from "@switchyard/host";
import type { PfStep } from "@switchyard/plan";
import { removeRules } from "../udev/keep-rules.ts";
import { removeUdevRules } from "../upstream/udev-rules.ts";
import type { StepContext } from "./step-context.ts";

/** Sets the MTU of the network interface of the PF. */
async function setPfMtu(step: PfStep<"set-pf-mtu">, context: StepContext): Promise<void> {
  await context.host.links.setMtu((await context.pfLink()).name, step.to);
}

/** Waits for the network interface of the VF and sets its MTU. */
async function setVfMtu(step: PfStep<"set-vf-mtu">, context: StepContext): Promise<void> {
  try {
    await setMtuOf(step, context);
  } catch (thrown) {
    if (!(thrown instanceof HostError && thrown.code === "ENODEV")) throw thrown;
    // i40e and ice have reset the VF, whose address was set just before; its interface comes back (6.12).
    context.forgetLinks();
    await setMtuOf(step, context);
  }
}

async function setMtuOf(step: PfStep<"set-vf-mtu">, context: StepContext): Promise<void> {
  const link = await context.vfLink(step.vfId);
  if (link.mtu !== step.to) await context.host.links.setMtu(link.name, step.to);
}

/** Sets the network interface of the PF up. */
async function setLinkUp(_step: unknown, context: StepContext): Promise<void> {
  await context.host.links.setAdminUp((await context.pfLink()).name, true);
}

/**
 * Removes the udev rules and the record of a PF after its reset. The record is removed last: as long as it exists, the next
 * pass continues the reset.
 */
async function releasePf(_step: unknown, { host, pf }: StepContext): Promise<void> {
  if (await removeRules(host.files, pf)) await host.udev.reloadRules();
  await removeUdevRules(host.files, pf);
  await host.records.remove(pf);
}

/** Runs the steps of this subject, by the names of their kinds. */
export const runPortSteps = {
  "release-pf": releasePf,
  "set-link-up": setLinkUp,
  "set-pf-mtu": setPfMtu,
  "set-vf-mtu": setVfMtu,
};
