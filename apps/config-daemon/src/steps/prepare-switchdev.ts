// SPDX-License-Identifier: Apache-2.0
/**
 * prepareSwitchdev turns on hw-tc-offload, if the NIC supports it (sriov-operator.md F.6).
 */
import type { StepContext } from "./step-context.ts";

const feature = "hw-tc-offload";

export async function prepareSwitchdev(_step: unknown, context: StepContext): Promise<void> {
  const { host } = context;
  const { name } = await context.pfLink();
  const state = await host.links.readFeature(name, feature);
  if (state?.changeable === true && !state.on) await host.links.setFeature(name, feature, true);
}
