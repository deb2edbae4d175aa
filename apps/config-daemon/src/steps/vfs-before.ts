// SPDX-License-Identifier: Apache-2.0
/**
 * Creates the VFs again that a PF had before a change that its driver refuses. The record keeps them until the change is done
 * (own-pfs.ts), so a daemon that was killed in between leaves them to the next one.
 */
import { isUnicast, isUserSpaceDriver, parseMacAddress, type MacAddress } from "@switchyard/api";
import { bindDefault, bindTo, HostError, type PfRecord, rebindDefault } from "@switchyard/host";
import { groupByDevice, uplinkAmong } from "../observe/interface-status.ts";
import type { StepContext } from "./step-context.ts";

/** The VFs of a PF before a change, as far as they can be restored. */
export type VfsBefore = NonNullable<PfRecord["vfsBefore"]>;

/** Returns the VFs that a refusal must leave behind: the recorded ones, else those that exist now. Rejects with HostError. */
export async function readVfsBefore(context: StepContext): Promise<VfsBefore> {
  const { host, pf } = context;
  const recorded = (await host.records.list()).get(pf)?.vfsBefore;
  if (recorded !== undefined) return recorded;
  const { numVfs: count = 0, vfs = [] } = (await host.sriov.readPf(pf))?.sriov ?? {};
  if (vfs.length === 0) return { count, vfs: [] };
  const onPf = uplinkAmong(groupByDevice(await host.links.listLinks()).get(pf) ?? [])?.vfs ?? [];
  const macs = new Map(onPf.map(({ vfId, mac }) => [vfId, mac]));
  return { count, vfs: vfs.map(({ vfId, driver }) => vfBefore(vfId, { driver, mac: macs.get(vfId) })) };
}

/** Returns what is kept of a VF. An address that nobody assigned is zero, and is left out. */
export function vfBefore(
  vfId: number,
  { driver, mac = "" }: { readonly driver: string | undefined; readonly mac: string | undefined },
): VfsBefore["vfs"][number] {
  return { vfId, ...(driver && { driver }), ...(assignable(mac) !== undefined && { mac }) };
}

/**
 * Creates the VFs again. The kernel gives new VFs its own drivers, and other addresses than before. VFs that have not appeared in
 * time (s390x) are left to later passes. Rejects with HostError.
 */
export async function createVfsAgain(count: number, before: VfsBefore, context: StepContext): Promise<void> {
  await context.host.sriov.setNumVfs(context.pf, count);
  context.forget();
  await context.settle();
  await waitForVfs(context);
  await restoreVfs(before, context);
}

/** Gives the VFs that exist the drivers and addresses that they had. Rejects with HostError. */
export async function restoreVfs({ vfs }: Pick<VfsBefore, "vfs">, context: StepContext): Promise<void> {
  const { host, pf } = context;
  const present = new Map(((await host.sriov.readPf(pf))?.sriov?.vfs ?? []).map((vf) => [vf.vfId, vf.pciAddress]));
  for (const { vfId, driver, mac } of vfs) {
    const device = present.get(vfId);
    if (device === undefined) continue;
    const target = { sriov: host.sriov, pf, device };
    const address = assignable(mac);
    if (address !== undefined) await assignMac(vfId, address, context);
    if (driver !== undefined && isUserSpaceDriver(driver)) await bindTo(target, driver);
    else if (driver !== undefined && address !== undefined) await rebindDefault(target); // takes the address
  }
  context.forget();
  await context.settle();
}

/** Returns the record when the VFs exist again: they can change before the next attempt, and have the addresses that they had. */
export function withVfsAgain({ vfsBefore: _, unassignedMacs = [], ...record }: PfRecord, { vfs }: VfsBefore): PfRecord {
  const without = new Set(vfs.flatMap(({ vfId, mac }) => (mac === undefined ? [vfId] : [])));
  const left = unassignedMacs.filter((vfId) => without.has(vfId));
  return { ...record, ...(left.length > 0 && { unassignedMacs: left }) };
}

/** Binds the VFs without a driver to the drivers that they had. Rejects with HostError. */
export async function bindVfsAgain({ vfs }: VfsBefore, context: StepContext): Promise<void> {
  const { host, pf } = context;
  const unbound = ((await host.sriov.readPf(pf))?.sriov?.vfs ?? []).filter(({ driver }) => driver === undefined);
  for (const { vfId, pciAddress: device } of unbound) {
    const driver = vfs.find((vf) => vf.vfId === vfId)?.driver;
    const target = { sriov: host.sriov, pf, device };
    if (driver !== undefined && isUserSpaceDriver(driver)) await bindTo(target, driver);
    else if (driver !== undefined) await bindDefault(target);
  }
}

const vfPollMs = 50;

/** Waits until all VFs have appeared: on s390x, they come one by one after the write (drivers/pci/iov.c, no_vf_scan). */
export async function waitForVfs({
  host,
  pf,
  timing,
  signal,
}: StepContext): Promise<{ readonly numVfs: number; readonly present: number }> {
  let [seen, sinceMs] = [0, timing.nowMs()];
  for (;;) {
    const { numVfs = 0, vfs = [] } = (await host.sriov.readPf(pf))?.sriov ?? {};
    if (vfs.length > seen) [seen, sinceMs] = [vfs.length, timing.nowMs()];
    const isOver = timing.nowMs() - sinceMs >= timing.linkTimeoutMs || signal.aborted;
    if (vfs.length >= numVfs || isOver) return { numVfs, present: vfs.length };
    await timing.sleep(vfPollMs, signal);
  }
}

/** i40e and ice refuse it for up to 300 ms while they reset the VF, and otx2 while the PF is down (6.12). */
const macAttempts = { count: 5, pauseMs: 200 };

/** Drivers without ndo_set_vf_mac cannot store the address (octeon_ep, idpf and ena, 6.12): the VF then keeps its own. */
export async function assignMac(vfId: number, mac: MacAddress, context: StepContext): Promise<void> {
  const { host, timing, signal } = context;
  for (let attempt = 1; ; attempt++) {
    try {
      const { name } = await context.pfLink();
      await host.links.setVfMac(name, vfId, mac);
      return;
    } catch (thrown) {
      if (!(thrown instanceof HostError)) throw thrown;
      if (thrown.code === "EOPNOTSUPP") return;
      const isBusy = thrown.code === "EAGAIN" || thrown.code === "EBUSY";
      if (!isBusy || attempt === macAttempts.count || signal.aborted) throw thrown;
    }
    await timing.sleep(macAttempts.pauseMs, signal);
  }
}

function assignable(text: string | undefined): MacAddress | undefined {
  const mac = parseMacAddress(text ?? "");
  return mac.ok && isUnicast(mac.value) ? mac.value : undefined;
}
