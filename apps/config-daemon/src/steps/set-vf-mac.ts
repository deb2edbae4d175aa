// SPDX-License-Identifier: Apache-2.0
/**
 * setVfMac sets the administrative MAC address of a VF to its present address, which then stays the same after a rebind
 * (sriov-operator.md F.6).
 */
import { isUnicast, parseMacAddress } from "@switchyard/api";
import { HostError } from "@switchyard/host";
import type { PfStep } from "@switchyard/plan";
import { rebindDefault } from "./bind-driver.ts";
import type { StepContext } from "./step-context.ts";

export async function setVfMac(step: PfStep<"set-vf-mac">, context: StepContext): Promise<void> {
  const { host } = context;
  const link = await context.vfLink(step.vfId);
  const mac = parseMacAddress(link.mac);
  if (!mac.ok || !isUnicast(mac.value)) {
    const words = `${link.name} has the address "${link.mac}", which is not a unicast MAC address`;
    throw new HostError(
      { action: `set administrative MAC address of VF ${step.vfId}`, target: context.pf },
      "EADDRNOTAVAIL",
      {
        words,
      },
    );
  }
  const uplink = await context.pfLink();
  await host.links.setVfMac(uplink.name, step.vfId, mac.value);
  if (step.rebind === true) await rebindDefault(await context.vfAddress(step.vfId), context);
}
