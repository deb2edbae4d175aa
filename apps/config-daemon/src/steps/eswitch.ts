// SPDX-License-Identifier: Apache-2.0
/** Runs the steps that change the embedded switch of a card. */
import type { PciAddress } from "@switchyard/api";
import { HostError } from "@switchyard/host";
import type { PfStep } from "@switchyard/plan";
import { representorsOf } from "../observe/interface-status.ts";
import type { StepContext } from "./step-context.ts";
import { bindVfsAgain, createVfsAgain, withVfsAgain, type VfsBefore } from "./vfs-before.ts";

/**
 * Changes the mode of a card's embedded switch (sriov-operator.md F.6). The drivers of VFs would stop working, so VFs
 * are unbound first, and the plan has steps that bind them again. Waits for the representors. If the driver refuses
 * the mode, the PF gets back the number of VFs or the drivers of VFs that it had before, and the error is the
 * driver's.
 */
async function setEswitchMode(step: PfStep<"set-eswitch-mode">, context: StepContext): Promise<void> {
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
    const before = (await host.records.list()).get(pf)?.vfsBefore ?? { count: 0, vfs: [] };
    const existing = (await host.sriov.readPf(pf))?.sriov?.numVfs ?? 0;
    // Fewer VFs than recorded: the daemon was killed after it had removed the others.
    const count = Math.max(step.restoreNumVfs ?? existing, before.count);
    if (count === existing) {
      for (const each of unbound) await rebind(context, each);
      await bindVfsAgain(before, context);
    } else await restoreNumVfs(context, { count, existing, before });
    await forgetVfsBefore(before, context);
    await context.settle();
    return refusal;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const words = `${refusal.words === undefined ? "" : `${refusal.words}; `}restoring its VFs failed: ${error.message}`;
    return new HostError(refusal.operation, refusal.code, { words, cause: refusal });
  }
}

async function restoreNumVfs(
  context: StepContext,
  { count, existing, before }: { readonly count: number; readonly existing: number; readonly before: VfsBefore },
): Promise<void> {
  if (existing > 0) await context.host.sriov.setNumVfs(context.pf, 0);
  if (count > 0) await createVfsAgain(count, before, context);
}

async function forgetVfsBefore(before: VfsBefore, { host, pf }: StepContext): Promise<void> {
  const record = (await host.records.list()).get(pf);
  if (record?.vfsBefore !== undefined) await host.records.save(pf, withVfsAgain(record, before));
}

async function rebind({ host: { sriov } }: StepContext, { vf, driver }: BoundVf): Promise<void> {
  await sriov.setDriverOverride(vf, driver);
  try {
    await sriov.bindDriver(vf, driver);
  } finally {
    await sriov.setDriverOverride(vf, undefined);
  }
}

const feature = "hw-tc-offload";

/** prepareSwitchdev turns on hw-tc-offload, if the NIC supports it (sriov-operator.md F.6). */
async function prepareSwitchdev(_step: unknown, context: StepContext): Promise<void> {
  const { host } = context;
  const { name } = await context.pfLink();
  const state = await host.links.readFeature(name, feature);
  if (state?.changeable === true && !state.on) await host.links.setFeature(name, feature, true);
}

/** Old firmware and drivers do not support smfs. The card then works, but slower (sriov-operator.md F.6). */
const tolerated: ReadonlySet<string> = new Set(["EINVAL", "ENODEV", "EOPNOTSUPP"]);

/** Sets the devlink parameter flow_steering_mode. */
async function setFlowSteering(step: PfStep<"set-flow-steering">, { host, pf }: StepContext): Promise<void> {
  try {
    await host.devlink.setParameter(pf, "flow_steering_mode", step.to);
  } catch (thrown) {
    if (!(thrown instanceof HostError && tolerated.has(thrown.code))) throw thrown;
  }
}

const pollMs = 50;

/**
 * Waits until each VF of the PF has a representor, with its name by udev. Rejects with HostError ETIMEDOUT that names the first
 * VF without one.
 */
export async function waitForRepresentors(context: StepContext): Promise<void> {
  const { host, pf, timing, signal } = context;
  const facts = await host.sriov.readPf(pf);
  const vfs = facts?.sriov?.vfs ?? [];
  const deadlineMs = timing.nowMs() + timing.linkTimeoutMs;
  for (;;) {
    context.forgetLinks(); // names can be stale
    const uplink = await context.pfLink();
    const representors = representorsOf(await host.links.listLinks(), uplink, {
      pciAddress: pf,
      driver: facts?.driver,
    });
    const missing = vfs.find(({ vfId }) => !representors.has(vfId));
    if (missing === undefined) return;
    if (timing.nowMs() >= deadlineMs || signal.aborted) {
      const words = `the representor of VF ${missing.vfId} of ${pf} did not appear within ${timing.linkTimeoutMs / 1000} s`;
      throw new HostError({ action: "wait for representors", target: pf }, "ETIMEDOUT", { words });
    }
    await timing.sleep(pollMs, signal);
  }
}

/** Runs the steps of this subject, by the names of their kinds. */
export const runEswitchSteps = {
  "prepare-switchdev": prepareSwitchdev,
  "set-eswitch-mode": setEswitchMode,
  "set-flow-steering": setFlowSteering,
};
