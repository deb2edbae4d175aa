// SPDX-License-Identifier: Apache-2.0
/** Runs the steps that create, bind and configure VFs. */
import { isUnicast, parseMacAddress, type PciAddress } from "@switchyard/api";
import { HostError, type PfRecord, type SriovSysfs } from "@switchyard/host";
import type { PfStep } from "@switchyard/plan";
import { isDeepStrictEqual } from "node:util";
import { chooseGuid } from "../guids/choose-guid.ts";
import type { StepContext } from "./step-context.ts";
import { waitForRepresentors } from "./eswitch.ts";

/** The driver created some of the requested VFs, which the kernel does not report as an error. */
export class FewerVfsError extends HostError {
  /** At least one. The other steps of these VFs can run. */
  readonly created: number;

  constructor(requested: number, created: number, pf: string) {
    const words = created === 1 ? "the driver created 1 VF" : `the driver created ${created} VFs`;
    super({ action: `set sriov_numvfs ${requested}`, target: pf }, "EAGAIN", { words });
    this.created = created;
  }
}

/**
 * Creates or removes the VFs of a PF, and waits until udev has named the new interfaces and, in switchdev mode,
 * representors. Rejects with FewerVfsError if the driver creates fewer VFs than requested, and records that.
 */
async function setNumVfs(step: PfStep<"set-num-vfs">, context: StepContext): Promise<void> {
  const { host, pf } = context;
  const before = await host.sriov.readPf(pf);
  const existing = before?.sriov?.numVfs ?? 0;
  if (existing !== step.to) {
    context.forget();
    // The kernel refuses a change between two non-zero numbers with EBUSY.
    if (existing > 0) await host.sriov.setNumVfs(pf, 0);
    if (step.to > 0) await createVfs(step.to, context);
    await context.settle(); // udev loads the driver of the VFs, which must not interfere with the next steps.
  }
  const created = (await host.sriov.readPf(pf))?.sriov?.vfs.length ?? 0;
  if (created === 0 && step.to > 0) {
    // bnxt_en ignores each write while its interface is down or its firmware is being reset (6.12): not a limit.
    const words = "the driver created 0 VFs";
    throw new HostError({ action: `set sriov_numvfs ${step.to}`, target: pf }, "EAGAIN", { words });
  }
  if (step.to > 0) await recordCreated({ requested: step.to, created }, context);
  if (step.to > 0 && (await host.devlink.readEswitchMode(pf)) === "switchdev") await waitForRepresentors(context);
  if (created !== step.to) throw new FewerVfsError(step.to, created, pf);
}

/** Records a driver that created fewer VFs than requested (bnxt_en does), and forgets it when the driver creates all. */
async function recordCreated(
  { requested, created }: NonNullable<PfRecord["fewerVfs"]>,
  { host, pf }: StepContext,
): Promise<void> {
  const record = (await host.records.list()).get(pf);
  if (record === undefined) return;
  const { fewerVfs, ...others } = record;
  const isStillKnown = fewerVfs !== undefined && requested < fewerVfs.requested;
  const next = created < requested ? { ...others, fewerVfs: { requested, created } } : isStillKnown ? record : others;
  if (!isDeepStrictEqual(next, record)) await host.records.save(pf, next);
}

/**
 * Records that the PCI bridges have no memory space for this number of VFs, for which the plan requests pci=realloc
 * (sriov-operator.md M-5).
 */
async function createVfs(count: number, { host, pf }: StepContext): Promise<void> {
  try {
    await host.sriov.setNumVfs(pf, count);
  } catch (thrown) {
    if (thrown instanceof HostError && thrown.code === "ENOMEM") {
      const record = (await host.records.list()).get(pf);
      const before = record?.numVfsWithoutMemory ?? count;
      if (record) await host.records.save(pf, { ...record, numVfsWithoutMemory: Math.min(before, count) });
    }
    throw thrown;
  }
}

/**
 * bindDriver binds a VF to a user-space driver, or to the driver that the kernel chooses (sriov-operator.md F.6).
 * Binds the VF to the requested driver, whatever driver it has before. It can be repeated.
 */
async function bindDriver(step: PfStep<"bind-driver">, context: StepContext): Promise<void> {
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
async function rebindDefault(vf: PciAddress, context: StepContext): Promise<void> {
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

/**
 * setVfGuid sets the GUID of an InfiniBand VF, and binds its driver again, so that its RDMA device gets the GUID
 * (sriov-operator.md F.6).
 */
async function setVfGuid(step: PfStep<"set-vf-guid">, context: StepContext): Promise<void> {
  const { host, pf } = context;
  const uplink = await context.pfLink();
  const guid = await chooseGuid(host, { pciAddress: pf, hardwareAddress: uplink.mac, vfId: step.vfId });
  await host.rdma.setVfGuid(uplink.name, step.vfId, guid);
  if (step.rebind === true) await rebindDefault(await context.vfAddress(step.vfId), context);
}

/**
 * setVfMac sets the administrative MAC address of a VF to its present address, which then stays the same after a rebind
 * (sriov-operator.md F.6).
 */
async function setVfMac(step: PfStep<"set-vf-mac">, context: StepContext): Promise<void> {
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

/** Runs the steps of this subject, by the names of their kinds. */
export const runVfSteps = {
  "bind-driver": bindDriver,
  "set-num-vfs": setNumVfs,
  "set-vf-guid": setVfGuid,
  "set-vf-mac": setVfMac,
};
