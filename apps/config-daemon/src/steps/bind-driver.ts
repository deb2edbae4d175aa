// SPDX-License-Identifier: Apache-2.0
/**
 * Binds a VF to a user-space driver, or gives it back to the kernel's choice (sriov-operator.md F.6 D).
 */
import type { PciAddress } from "@switchyard/api";
import { HostError, type SriovSysfs } from "@switchyard/host";
import type { BindDriver } from "@switchyard/plan";
import type { StepContext } from "./step-context.ts";

/** Repeatable: whatever driver the VF has when it runs, it ends with the one asked for. */
export async function bindDriver(step: BindDriver, context: StepContext): Promise<void> {
  const { sriov } = context.host;
  const vf = await context.vfAddress(step.vfId);
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
    // Left behind it would keep the kernel's driver away after a later reset.
    await sriov.setDriverOverride(vf, undefined);
  }
}

/** Unbinds and binds again the driver that the kernel chooses. */
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
