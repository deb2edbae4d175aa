// SPDX-License-Identifier: Apache-2.0
import type { PfStep } from "@switchyard/plan";
import { keepBridgeRule } from "../udev/bridge-rules.ts";
import type { StepContext } from "./step-context.ts";

/** Creates or changes the bridge, which NetworkManager must not manage. The uplink is the present interface of the PF: earlier steps may have renamed it. */
export async function setOvsBridge(step: PfStep<"set-ovs-bridge">, context: StepContext): Promise<void> {
  const { bridge: name, settings, uplink } = step;
  await keepBridgeRule(context.host, name);
  const link = await context.pfLink();
  await context.host.ovs.setBridge({
    ...{ name, settings },
    uplink: { name: link.name, pciAddress: context.pf, settings: uplink },
  });
  context.forgetLinks(); // the bridge has an interface, and the MTU of the uplink may have changed
}
