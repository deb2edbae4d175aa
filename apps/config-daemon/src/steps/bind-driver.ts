// SPDX-License-Identifier: Apache-2.0
/**
 * bindDriver binds a VF to a user-space driver, or to the driver that the kernel chooses (sriov-operator.md F.6).
 */
import type { PciAddress } from "@switchyard/api";
import { HostError, type SriovSysfs } from "@switchyard/host";
import type { PfStep } from "@switchyard/plan";
import type { StepContext } from "./step-context.ts";

/** Binds the VF to the requested driver, whatever driver it has before. It can be repeated. */
export async function bindDriver(step: PfStep<"bind-driver">, context: StepContext): Promise<void> {
  const { sriov } = context.host;
  const vf = step.isPf === true ? context.pf : await context.vfAddress(step.vfId);
  context.forgetLinks();
  if (step.to === "default") {
    await sriov.setDriverOverride(vf, undefined);
    if (step.from !== undefined) await unbindIfBound(sriov, vf);
    await sriov.probeDrivers(vf);
    return;
  }
  await sriov.setDriverOverride(vf, step.to);
  try {
    await unbindIfBound(sriov, vf);
    await sriov.bindDriver(vf, step.to);
  } finally {
    // An override that stays would prevent the kernel's driver from binding after a later reset.
    await sriov.setDriverOverride(vf, undefined);
  }
}

/** Unbinds the VF and binds it to the driver that the kernel chooses. */
export async function rebindDefault(vf: PciAddress, context: StepContext): Promise<void> {
  const { sriov } = context.host;
  context.forgetLinks();
  await unbindIfBound(sriov, vf);
  await sriov.probeDrivers(vf);
}

async function unbindIfBound(sriov: SriovSysfs, vf: PciAddress): Promise<void> {
  try {
    await sriov.unbindDriver(vf);
  } catch (thrown) {
    if (!(thrown instanceof HostError && thrown.code === "ENOENT")) throw thrown;
  }
}
