// SPDX-License-Identifier: Apache-2.0
/** Runs the steps that change Open vSwitch bridges of PFs. */
import type { PfStep } from "@switchyard/plan";
import { keepBridgeRule, removeBridgeRule } from "../udev/keep-rules.ts";
import type { StepContext } from "./step-context.ts";

/** Creates or changes the bridge, which NetworkManager must not manage. The uplink is the present interface of the PF: earlier steps may have renamed it. */
async function setOvsBridge(step: PfStep<"set-ovs-bridge">, context: StepContext): Promise<void> {
  const { bridge: name, settings, uplink } = step;
  await keepBridgeRule(context.host, name);
  const link = await context.pfLink();
  await context.host.ovs.setBridge({
    name,
    settings,
    uplink: { name: link.name, pciAddress: context.pf, settings: uplink },
  });
  context.forgetLinks(); // the bridge has an interface, and the MTU of the uplink may have changed
}

/** Removes a bridge that Switchyard created, and its udev rule. */
async function removeOvsBridge(step: PfStep<"remove-ovs-bridge">, { host }: StepContext): Promise<void> {
  // The rule first: without the bridge, nothing would tell the next daemon that the rule is left.
  await removeBridgeRule(host, step.bridge);
  await host.ovs.removeBridge(step.bridge);
}

/** Removes ports from a bridge that Switchyard created. */
async function removeOvsPorts(step: PfStep<"remove-ovs-ports">, { host }: StepContext): Promise<void> {
  await host.ovs.removePorts(step.bridge, step.ports);
}

/** Runs the steps of this subject, by the names of their kinds. */
export const runOvsBridgeSteps = {
  "remove-ovs-bridge": removeOvsBridge,
  "remove-ovs-ports": removeOvsPorts,
  "set-ovs-bridge": setOvsBridge,
};
