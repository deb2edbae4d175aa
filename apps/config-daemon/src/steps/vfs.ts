// SPDX-License-Identifier: Apache-2.0
/** Runs the steps that create, bind and configure VFs. */
import { isUnicast, isUserSpaceDriver, parseMacAddress, type PciAddress } from "@switchyard/api";
import {
  bindDefault,
  bindTo,
  HostError,
  type InitialVf,
  type Link,
  type PfRecord,
  type VfSetting,
  rebindDefault,
} from "@switchyard/host";
import type { PfStep } from "@switchyard/plan";
import { isDeepStrictEqual } from "node:util";
import { chooseVfMac } from "../addresses/choose-vf-mac.ts";
import { chooseGuid } from "../guids/choose-guid.ts";
import type { StepContext } from "./step-context.ts";
import { readMemoryCause } from "./vf-memory.ts";
import { assignMac, createVfsAgain, readVfsBefore, waitForVfs, withVfsAgain, type VfsBefore } from "./vfs-before.ts";
import { waitForRepresentors } from "./eswitch.ts";

/** The PF has fewer VFs than requested, because its driver created fewer or refused the number. Other steps of these VFs can run. */
export class FewerVfsError extends HostError {
  /** At least one. */
  readonly created: number;

  constructor(
    operation: HostError["operation"],
    code: string,
    why: { readonly created: number; readonly words: string },
  ) {
    super(operation, code, { words: why.words });
    this.created = why.created;
  }
}

/**
 * Creates or removes the VFs of a PF, and waits until udev has named the new interfaces and, in switchdev mode,
 * representors. Rejects with FewerVfsError if the driver creates fewer VFs than requested, and records that. If the driver refuses
 * the number after the former VFs were removed, these are created again, with their drivers and addresses.
 */
async function setNumVfs(step: PfStep<"set-num-vfs">, context: StepContext): Promise<void> {
  const { host, pf } = context;
  const existing = (await host.sriov.readPf(pf))?.sriov?.numVfs ?? 0;
  if (existing !== step.to) {
    const before = await readVfsBefore(context);
    context.forget();
    // The kernel refuses a change between two non-zero numbers with EBUSY.
    if (existing > 0) await removeVfs(context);
    if (step.to > 0) await createOrRestore(step, context, before);
    await context.settle(); // udev loads the driver of the VFs, which must not interfere with the next steps.
  }
  const { numVfs, present } = await waitForVfs(context);
  if (numVfs === 0 && step.to > 0) {
    // bnxt_en ignores each write while its interface is down or its firmware is being reset (6.12): not a limit.
    const words = "the driver created 0 VFs";
    throw new HostError({ action: `set sriov_numvfs ${step.to}`, target: pf }, "EAGAIN", { words });
  }
  if (present < numVfs) {
    const words = `only ${present} of ${numVfs} VFs have appeared after ${context.timing.linkTimeoutMs / 1000} s`;
    throw new HostError({ action: "wait for VFs", target: pf }, "ETIMEDOUT", { words });
  }
  if (step.to > 0) await recordCreated({ requested: step.to, created: numVfs }, context);
  if (step.to > 0 && (await host.devlink.readEswitchMode(pf)) === "switchdev") await waitForRepresentors(context);
  if (numVfs === step.to) return;
  // The kernel does not report this as an error.
  const words = numVfs === 1 ? "the driver created 1 VF" : `the driver created ${numVfs} VFs`;
  throw new FewerVfsError({ action: `set sriov_numvfs ${step.to}`, target: pf }, "EAGAIN", { created: numVfs, words });
}

/** bnxt_en ignores a write of 0, too, while its interface is down or its firmware is being reset (bnxt_sriov.c, 6.12). */
async function removeVfs({ host, pf }: StepContext): Promise<void> {
  await host.sriov.setNumVfs(pf, 0);
  const numVfs = (await host.sriov.readPf(pf))?.sriov?.numVfs ?? 0;
  if (numVfs === 0) return;
  const remaining = numVfs === 1 ? "1 VF remains" : `${numVfs} VFs remain`;
  const words =
    `${remaining}: the driver ignored the request, as bnxt_en does while the interface of the PF is down or the firmware of ` +
    "the card is being reset";
  throw new HostError({ action: "set sriov_numvfs 0", target: pf }, "EAGAIN", { words });
}

/** Errors that mean "later": everything else is the answer of the driver to this number. */
const transient: ReadonlySet<string> = new Set(["EAGAIN", "EBUSY", "EINTR", "EIO", "ENODEV", "ETIMEDOUT"]);

/** Rejects with FewerVfsError if the driver refuses the number and the PF has its former VFs again. */
async function createOrRestore(
  { to, restoreNumVfs }: PfStep<"set-num-vfs">,
  context: StepContext,
  before: VfsBefore,
): Promise<void> {
  const { host, pf } = context;
  try {
    await createVfs(to, context);
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    const refusal = await context.explainer.explain(thrown);
    const record = (await host.records.list()).get(pf);
    const known = record?.fewerVfs?.requested === to ? record.fewerVfs.created : 0;
    const count = before.count || (restoreNumVfs ?? known);
    if (count === 0 || count === to || refusal.code === "ENODEV") throw refusal; // ENODEV: the PF is gone
    try {
      await createVfsAgain(count, before, context);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      const words = `${refusal.words === undefined ? "" : `${refusal.words}; `}restoring its VFs failed: ${error.message}`;
      throw new HostError(refusal.operation, refusal.code, { words, cause: refusal });
    }
    if (record) {
      const next = withVfsAgain((await host.records.list()).get(pf) ?? record, before); // createVfs() may have changed it
      const fewerVfs = { requested: to, created: count, error: refusal.message };
      await host.records.save(pf, transient.has(refusal.code) ? next : { ...next, fewerVfs });
    }
    const again = count === 1 ? "the PF has its VF again" : `the PF has its ${count} VFs again`;
    const words = refusal.words === undefined ? again : `${refusal.words}; ${again}`;
    throw new FewerVfsError(refusal.operation, refusal.code, { created: count, words });
  }
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
 * (sriov-operator.md M-5). Other causes of ENOMEM are only named.
 */
async function createVfs(count: number, { host, pf }: StepContext): Promise<void> {
  try {
    await host.sriov.setNumVfs(pf, count);
  } catch (thrown) {
    if (!(thrown instanceof HostError && thrown.code === "ENOMEM")) throw thrown;
    const cause = await readMemoryCause(host, pf, count);
    const record = (await host.records.list()).get(pf);
    if (record && cause?.canReassign !== false) {
      const before = record.numVfsWithoutMemory ?? count;
      await host.records.save(pf, { ...record, numVfsWithoutMemory: Math.min(before, count) });
    }
    throw cause === undefined
      ? thrown
      : new HostError(thrown.operation, thrown.code, { words: cause.words, cause: thrown });
  }
}

/**
 * bindDriver binds a VF to a user-space driver, or to its kernel driver (sriov-operator.md F.6). It can be repeated. Rejects with
 * HostError ENODEV if the VF does not have the driver afterwards.
 */
async function bindDriver(step: PfStep<"bind-driver">, context: StepContext): Promise<void> {
  const { host, pf } = context;
  const target = { sriov: host.sriov, pf, device: step.isPf === true ? pf : await context.vfAddress(step.vfId) };
  if (step.to !== "default") {
    if (step.isPf !== true && isUserSpaceDriver(step.to)) await keepMac(step.vfId, target.device, context);
    context.forgetLinksOf(target.device);
    await bindTo(target, step.to);
    return;
  }
  if (step.from === undefined) {
    await context.settle(); // udev may have yet to load the driver
    await bindDefault(target);
  } else await rebindDefault(target);
  context.forgetLinks(); // udev has yet to name the new interface
}

/** Sets the administrative address of an Ethernet VF before it is bound to a driver without an interface. */
async function keepMac(vfId: number, device: PciAddress, context: StepContext): Promise<void> {
  const { host, pf } = context;
  const uplink = await context.findLink(pf);
  const onPf = uplink?.vfs.find((vf) => vf.vfId === vfId);
  // Without an interface of the PF, and on NICs that store no addresses, nothing can be set.
  if (uplink?.type !== "ether" || onPf === undefined) return;
  const link = await context.findLink(device);
  await assignMac(vfId, await chooseVfMac(host, { pf, vfId, known: [link?.mac, onPf.mac] }), context);
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
  if (step.rebind === true) await rebind(step.vfId, context);
}

async function rebind(vfId: number, context: StepContext): Promise<void> {
  const { host, pf } = context;
  await rebindDefault({ sriov: host.sriov, pf, device: await context.vfAddress(vfId) });
  context.forgetLinks();
}

/**
 * setVfMac sets the administrative MAC address of a VF to its present address, which then stays the same after a rebind
 * (sriov-operator.md F.6).
 */
async function setVfMac(step: PfStep<"set-vf-mac">, context: StepContext): Promise<void> {
  const { host, pf } = context;
  const { vfId } = step;
  const link = await context.vfLink(vfId);
  const isZero = /^[0:]+$/.test(link.mac); // ionic, until an address is assigned
  const mac = isZero
    ? { ok: true as const, value: await chooseVfMac(host, { pf, vfId, known: [] }) }
    : parseMacAddress(link.mac);
  if (!mac.ok || !isUnicast(mac.value)) {
    const words = `${link.name} has the address "${link.mac}", which is not a unicast MAC address`;
    throw new HostError({ action: `set administrative MAC address of VF ${vfId}`, target: pf }, "EADDRNOTAVAIL", {
      words,
    });
  }
  await assignMac(vfId, mac.value, context);
  if (step.rebind === true || isZero) await rebind(vfId, context);
}

/**
 * resetVf gives a VF the settings of the new VF again. First those that its PF stores. If the interface differs, too, the driver is then
 * bound again, which makes a new interface: so nothing else of the past pod stays. It can be repeated. Does nothing if a pod has the VF
 * by now.
 */
async function resetVf({ vfId }: PfStep<"reset-vf">, context: StepContext): Promise<void> {
  const { host, pf } = context;
  const device = await context.vfAddress(vfId);
  context.forgetLinks();
  const link = await context.findLink(device);
  const initial = (await host.records.list()).get(pf)?.initialVfs?.vfs[vfId];
  if (initial === undefined || !(await context.isFree(device))) return;
  await resetOnPf({ vfId, initial }, context);
  if (link === undefined || !isChanged(link, initial)) return;
  await rebindDefault({ sriov: host.sriov, pf, device });
  context.forgetLinks();
  const { name, mac, mtu } = await context.vfLink(vfId);
  const wantedMtu = initial.mtu ?? link.mtu; // the plan has set that of the spec before this step
  if (mtu !== wantedMtu) await host.links.setMtu(name, wantedMtu);
  context.forgetLinks();
  // What the driver and udev choose now is the state of the new VF.
  const record = (await host.records.list()).get(pf);
  const vfs = record?.initialVfs?.vfs ?? {};
  const next = { ...initial, name, mac };
  if (record?.initialVfs === undefined || isDeepStrictEqual(next, initial)) return;
  await host.records.save(pf, { ...record, initialVfs: { ...record.initialVfs, vfs: { ...vfs, [vfId]: next } } });
}

interface VfToReset {
  readonly vfId: number;
  readonly initial: InitialVf;
}

/** Each setting is a request of its own, because a driver may lack one of them. */
async function resetOnPf({ vfId, initial }: VfToReset, context: StepContext): Promise<void> {
  const { name, vfs } = await context.pfLink();
  const vf = vfs.find((each) => each.vfId === vfId);
  if (vf === undefined) return;
  const set = (setting: VfSetting) => context.host.links.setVf(name, vfId, setting);
  if (vf.vlan !== 0 || vf.vlanQos !== 0 || vf.vlanProtocol !== "802.1Q") {
    await set({ vlan: 0, qos: 0, protocol: "802.1Q" });
  }
  const spoofCheck = initial.spoofChk !== "off";
  if (vf.spoofCheck !== undefined && vf.spoofCheck !== spoofCheck) await set({ spoofCheck });
  if (vf.linkState !== "auto") await set({ linkState: "auto" });
  if (vf.minTxRate !== 0 || vf.maxTxRate !== 0) await set({ minTxRate: 0, maxTxRate: 0 });
  const mac = parseMacAddress(initial.adminMac ?? "");
  if (mac.ok && mac.value !== vf.mac) await assignMac(vfId, mac.value, context);
  // Last: without trust, some drivers refuse changes of the address.
  if (vf.trust === true) await set({ trust: false });
}

function isChanged(link: Link, initial: InitialVf): boolean {
  const isOther = (value: unknown, wanted: unknown): boolean => wanted !== undefined && value !== wanted;
  return (
    link.promiscuous ||
    isOther(link.name, initial.name) ||
    isOther(link.mac, initial.mac) ||
    isOther(link.mtu, initial.mtu)
  );
}

/** Runs the steps of this subject, by the names of their kinds. */
export const runVfSteps = {
  "bind-driver": bindDriver,
  "set-num-vfs": setNumVfs,
  "set-vf-guid": setVfGuid,
  "reset-vf": resetVf,
  "set-vf-mac": setVfMac,
};
