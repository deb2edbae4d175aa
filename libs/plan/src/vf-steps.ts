// SPDX-License-Identifier: Apache-2.0
/**
 * What the VFs of one group still need: driver, MAC address, MTU (sriov-operator.md F.4, F.6 D; M-30: judged from
 * everything the group asks, not from the driver alone).
 */
import type { InterfaceStatus, VfGroup, VfStatus } from "@switchyard/api";
import type { VfRange } from "@switchyard/policy";
import type { PfStep } from "./step.ts";

/** What the kernel says of a VF that its PF gave no address. */
const noMac = "00:00:00:00:00:00";

/** Drivers that hand a device to user space, as upstream knows them (F.4). */
const userSpaceDrivers: ReadonlySet<string> = new Set(["vfio-pci", "uio_pci_generic", "igb_uio"]);

/** Steps for VFs that the plan is about to create: nothing of them is known, except that they are as the kernel makes them. */
export function stepsForNewVfs(pf: InterfaceStatus, group: VfGroup, range: VfRange): readonly PfStep[] {
  return stepsForVfs(range, (vfId) => {
    if (!isNetdevice(group)) return [bind(pf, vfId, undefined, group)];
    return configureNetdevice(pf, vfId, group);
  });
}

/** Steps for VFs that exist and stay. */
export function stepsForExistingVfs(pf: InterfaceStatus, group: VfGroup, range: VfRange): readonly PfStep[] {
  const vfs = (pf.Vfs ?? []).filter(({ vfID }) => range.first <= vfID && vfID <= range.last);
  return vfs.toSorted((a, b) => a.vfID - b.vfID).flatMap((vf) => stepsForVf(pf, vf, group));
}

/** The value becomes the name of a driver and of a module, so no other one gets as far as a step. */
const deviceTypes: ReadonlySet<string> = new Set(["netdevice", "vfio-pci"]);

/** Whether there are steps for such VFs: an object that was stored before the CRD had the enum may say anything. */
export function isKnownDeviceType(group: VfGroup): boolean {
  return group.deviceType === undefined || deviceTypes.has(group.deviceType);
}

/** Whether the group's VFs keep their kernel driver. Absent is the CRD's default. */
export function isNetdevice(group: VfGroup): boolean {
  return (group.deviceType ?? "netdevice") === "netdevice";
}

function stepsForVf(pf: InterfaceStatus, vf: VfStatus, group: VfGroup): readonly PfStep[] {
  const driver = vf.driver === "" ? undefined : vf.driver;
  if (!isNetdevice(group)) return driver === group.deviceType ? [] : [bind(pf, vf.vfID, driver, group)];
  if (driver === undefined || userSpaceDrivers.has(driver)) {
    return [bind(pf, vf.vfID, driver, group), ...configureNetdevice(pf, vf.vfID, group)];
  }
  // A VF without an interface here is in a pod, which may have changed what it likes.
  if (vf.name === undefined || vf.name === "") return [];
  const steps: PfStep[] = [];
  // Absent is unknown: upstream's daemon does not report it, and the PF's interface may be away.
  if (isEthernet(pf) && vf.adminMac === noMac) steps.push(setMac(pf, vf.vfID, group));
  if (wantsMtu(group) && vf.mtu !== undefined && vf.mtu !== group.mtu) {
    steps.push({ kind: "set-vf-mtu", pciAddress: pf.pciAddress, vfId: vf.vfID, from: vf.mtu, to: group.mtu });
  }
  return steps;
}

/** All that a netdevice needs whose interface nobody has seen yet. */
function configureNetdevice(pf: InterfaceStatus, vfId: number, group: VfGroup): readonly PfStep[] {
  const steps: PfStep[] = isEthernet(pf) ? [setMac(pf, vfId, group)] : [];
  if (wantsMtu(group)) steps.push({ kind: "set-vf-mtu", pciAddress: pf.pciAddress, vfId, to: group.mtu });
  return steps;
}

function setMac(pf: InterfaceStatus, vfId: number, group: VfGroup): PfStep {
  const step = { kind: "set-vf-mac", pciAddress: pf.pciAddress, vfId } as const;
  return group.isRdma === true ? { ...step, rebind: true } : step;
}

function bind(pf: InterfaceStatus, vfId: number, from: string | undefined, group: VfGroup): PfStep {
  const to = isNetdevice(group) ? "default" : (group.deviceType ?? "default");
  return { kind: "bind-driver", pciAddress: pf.pciAddress, vfId, ...(from === undefined ? {} : { from }), to };
}

function isEthernet(pf: InterfaceStatus): boolean {
  return (pf.linkType ?? "ETH").toUpperCase() === "ETH";
}

/** 0 is upstream's "leave it". */
function wantsMtu(group: VfGroup): group is VfGroup & { readonly mtu: number } {
  return group.mtu !== undefined && group.mtu > 0;
}

function stepsForVfs(range: VfRange, stepsFor: (vfId: number) => readonly PfStep[]): readonly PfStep[] {
  const steps: PfStep[] = [];
  for (let vfId = range.first; vfId <= range.last; vfId++) steps.push(...stepsFor(vfId));
  return steps;
}
