// SPDX-License-Identifier: Apache-2.0
/**
 * runAfxdpSteps runs the steps of one kind that batchesOf() has put together. Those that wait for drivers wait at the same time.
 */
import type { AfxdpStep } from "@switchyard/plan";
import { removeAfxdpRule } from "../../udev/keep-rules.ts";
import { connectRepresentor, setRepresentor } from "./representors.ts";
import { runEach, type AfxdpStepContext, type StepOutcomes } from "./step-context.ts";
import {
  activateSubfunctions,
  createSubfunction,
  deactivateSubfunctions,
  deleteSubfunction,
  setSubfunctionMac,
} from "./subfunctions.ts";

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
    case "set-representor":
      return setRepresentor(step, context);
    case "connect-representor":
      return connectRepresentor(step, context);
    case "delete-subfunction":
      return deleteSubfunction(step, context);
    case "release-device":
      return releaseDevice(step, context);
    case "activate-subfunction":
    case "deactivate-subfunction":
      return; // above
  }
}

/**
 * The steps that change a network interface: its MTU, its queues and its link.
 * Sets the MTU.
 */
async function setMtu({ sfNumber, to }: AfxdpStep<"set-mtu">, context: AfxdpStepContext): Promise<void> {
  await context.host.links.setMtu(await context.interfaceName(sfNumber), to);
}

/** Sets the number of queues unless the interface has it: some drivers reset the link for each request. */
async function setQueues({ sfNumber, to }: AfxdpStep<"set-queues">, context: AfxdpStepContext): Promise<void> {
  const { xdp } = context.host;
  const name = await context.interfaceName(sfNumber);
  if ((await xdp.readQueues(name))?.count !== to) await xdp.setQueues(name, to);
}

/** Sets the link of the device up. */
async function setLinkUp(_step: AfxdpStep<"set-link-up">, context: AfxdpStepContext): Promise<void> {
  await context.host.links.setAdminUp(await context.interfaceName(undefined), true);
}

/** Changes the mode of the embedded switch. The device has no VFs, whose drivers would have to be unbound first. */
async function setEswitchMode({ to }: AfxdpStep<"set-eswitch-mode">, context: AfxdpStepContext): Promise<void> {
  const pf = context.pf();
  if ((await context.host.devlink.readEswitchMode(pf)) !== to) await context.host.devlink.setEswitchMode(pf, to);
  context.changed();
  await context.settle(); // Some drivers create the interface of the device again.
}

/** Removes the rules and the record of the device. */
async function releaseDevice(_step: unknown, { host, device }: AfxdpStepContext): Promise<void> {
  await removeAfxdpRule(host, device);
  await host.afxdpRecords.remove(device);
}
