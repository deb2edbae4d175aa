// SPDX-License-Identifier: Apache-2.0
/**
 * prepareSwitchdev turns on hw-tc-offload, if the NIC supports it (sriov-operator.md F.6). It fails before anything changes
 * if the driver has no embedded switch.
 */
import { HostError } from "@switchyard/host";
import type { StepContext } from "./step-context.ts";

const feature = "hw-tc-offload";

export async function prepareSwitchdev(_step: unknown, context: StepContext): Promise<void> {
  const { host, pf } = context;
  if ((await host.devlink.readEswitchMode(pf)) === undefined) {
    const words = "the driver has no embedded switch";
    throw new HostError({ action: "set eswitch mode switchdev", target: pf }, "EOPNOTSUPP", { words });
  }
  const { name } = await context.pfLink();
  const state = await host.links.readFeature(name, feature);
  if (state?.changeable === true && !state.on) await host.links.setFeature(name, feature, true);
}
