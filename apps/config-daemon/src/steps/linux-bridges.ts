// SPDX-License-Identifier: Apache-2.0
/** Runs the steps that change Linux bridges of PFs. */
import type { ObservedLinuxBridge } from "@switchyard/host";
import type { PfStep } from "@switchyard/plan";
import { keepBridgeRule, removeBridgeRule } from "../udev/keep-rules.ts";
import type { StepContext } from "./step-context.ts";

/**
 * Creates or completes the bridge, makes the present interface of the PF its only uplink, and sets it up last: a bridge that
 * is up has all settings. A bridge or a port that belongs to another program is refused by the host.
 */
async function setLinuxBridge(step: PfStep<"set-linux-bridge">, context: StepContext): Promise<void> {
  const { host } = context;
  const { bridge: name, vlans, port } = step;
  const { linuxBridges } = host;
  await keepBridgeRule(host, name); // before the bridge exists
  const existing = await findBridge(context, name);
  if (existing?.isComplete !== true) await linuxBridges.createBridge(name);
  const wanted = { filtering: vlans.vlanFiltering, protocol: vlans.vlanProtocol };
  if (existing === undefined || !hasVlans(existing, wanted)) await linuxBridges.setVlans(name, wanted);
  const { name: uplink } = await context.pfLink();
  await linuxBridges.addPort(name, uplink);
  await linuxBridges.setPort(name, uplink, port);
  await linuxBridges.setAdminUp(name, true);
  context.forgetLinks();
}

/** Removes the bridge, and the rule that keeps NetworkManager away from it. */
async function removeLinuxBridge({ bridge }: PfStep<"remove-linux-bridge">, context: StepContext): Promise<void> {
  await removeBridgeRule(context.host, bridge); // first, as in remove-ovs-bridge.ts
  if ((await findBridge(context, bridge)) !== undefined) await context.host.linuxBridges.deleteBridge(bridge);
  context.forgetLinks();
}

async function findBridge({ host }: StepContext, name: string): Promise<ObservedLinuxBridge | undefined> {
  return (await host.linuxBridges.listBridges()).find((bridge) => bridge.name === name);
}

function hasVlans(
  bridge: ObservedLinuxBridge,
  wanted: { readonly filtering: boolean; readonly protocol: string },
): boolean {
  return bridge.vlanFiltering === wanted.filtering && bridge.vlanProtocol === wanted.protocol;
}

/** Runs the steps of this subject, by the names of their kinds. */
export const runLinuxBridgeSteps = {
  "remove-linux-bridge": removeLinuxBridge,
  "set-linux-bridge": setLinuxBridge,
};
