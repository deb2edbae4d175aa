// SPDX-License-Identifier: Apache-2.0
/**
 * setVfGuid sets the GUID of an InfiniBand VF, and binds its driver again, so that its RDMA device gets the GUID
 * (sriov-operator.md F.6).
 */
import type { PfStep } from "@switchyard/plan";
import { chooseGuid } from "../guids/choose-guid.ts";
import { rebindDefault } from "./bind-driver.ts";
import type { StepContext } from "./step-context.ts";

export async function setVfGuid(step: PfStep<"set-vf-guid">, context: StepContext): Promise<void> {
  const { host, pf } = context;
  const uplink = await context.pfLink();
  const guid = await chooseGuid(host, { pciAddress: pf, hardwareAddress: uplink.mac, vfId: step.vfId });
  await host.rdma.setVfGuid(uplink.name, step.vfId, guid);
  if (step.rebind === true) await rebindDefault(await context.vfAddress(step.vfId), context);
}
