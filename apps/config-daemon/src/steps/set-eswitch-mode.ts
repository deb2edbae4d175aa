// SPDX-License-Identifier: Apache-2.0
/**
 * setEswitchMode changes the mode of a card's embedded switch (sriov-operator.md F.6). It unbinds the VFs first, because their
 * drivers would stop working, and waits for the representors. The plan has steps that bind the VFs again.
 */
import type { PciAddress } from "@switchyard/api";
import { HostError } from "@switchyard/host";
import type { PfStep } from "@switchyard/plan";
import type { StepContext } from "./step-context.ts";
import { waitForRepresentors } from "./wait-for-representors.ts";

/**
 * If the driver refuses the mode, the PF gets back the number of VFs or the drivers of VFs that it had before, and the error is
 * the driver's.
 */
export async function setEswitchMode(step: PfStep<"set-eswitch-mode">, context: StepContext): Promise<void> {
  const { host, pf } = context;
  if ((await host.devlink.readEswitchMode(pf)) !== step.to) {
    const unbound: BoundVf[] = [];
    context.forget();
    try {
      await unbindVfs(context, unbound);
      await host.devlink.setEswitchMode(pf, step.to);
    } catch (refusal) {
      if (!(refusal instanceof HostError)) throw refusal;
      throw await restored(step, context, unbound, refusal);
    }
    await context.settle();
  }
  if (step.to === "switchdev") await waitForRepresentors(context);
}

interface BoundVf {
  readonly vf: PciAddress;
  readonly driver: string;
}

/** Adds each VF that had a driver to `unbound`. */
async function unbindVfs({ host, pf }: StepContext, unbound: BoundVf[]): Promise<void> {
  for (const { pciAddress: vf, driver } of (await host.sriov.readPf(pf))?.sriov?.vfs ?? []) {
    if (driver === undefined) continue;
    await host.sriov.unbindDriver(vf);
    unbound.push({ vf, driver });
  }
}

/** Undoes what was done for the mode, and returns the error to report. */
async function restored(
  step: PfStep<"set-eswitch-mode">,
  context: StepContext,
  unbound: readonly BoundVf[],
  refusal: HostError,
): Promise<HostError> {
  const { host, pf } = context;
  try {
    // A PF that vanished has no mode. A change that ended too late is not undone: the next pass continues from it.
    if ((await host.devlink.readEswitchMode(pf)) !== step.from) return refusal;
    if (step.restoreNumVfs === undefined) for (const each of unbound) await rebind(context, each);
    else await restoreNumVfs(context, step.restoreNumVfs);
    await context.settle();
    return refusal;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const words = `${refusal.words === undefined ? "" : `${refusal.words}; `}restoring its VFs failed: ${error.message}`;
    return new HostError(refusal.operation, refusal.code, { words, cause: refusal });
  }
}

async function restoreNumVfs({ host, pf }: StepContext, count: number): Promise<void> {
  if (((await host.sriov.readPf(pf))?.sriov?.numVfs ?? 0) > 0) await host.sriov.setNumVfs(pf, 0);
  if (count > 0) await host.sriov.setNumVfs(pf, count);
}

async function rebind({ host: { sriov } }: StepContext, { vf, driver }: BoundVf): Promise<void> {
  await sriov.setDriverOverride(vf, driver);
  try {
    await sriov.bindDriver(vf, driver);
  } finally {
    await sriov.setDriverOverride(vf, undefined);
  }
}
