// SPDX-License-Identifier: Apache-2.0
import type { AfxdpStep } from "@switchyard/plan";
import type { AfxdpStepContext } from "./step-context.ts";

/** Changes the mode of the embedded switch. The device has no VFs, whose drivers would have to be unbound first. */
export async function setEswitchMode({ to }: AfxdpStep<"set-eswitch-mode">, context: AfxdpStepContext): Promise<void> {
  const pf = context.pf();
  if ((await context.host.devlink.readEswitchMode(pf)) !== to) await context.host.devlink.setEswitchMode(pf, to);
  context.changed();
  await context.settle(); // Some drivers create the interface of the device again.
}
