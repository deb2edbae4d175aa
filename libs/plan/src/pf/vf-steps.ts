// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the driver, the MAC address and the MTU of the VFs of one group (sriov-operator.md F.4, F.6). It compares all three
 * with the observed values and not the driver alone (sriov-operator.md M-30).
 */
import { defined, isUserSpaceDriver, type InterfaceStatus, type VfGroup, type VfStatus } from "@switchyard/api";
import { includesVf, type VfRange } from "@switchyard/policy";
import type { PfStep } from "../steps/step.ts";
import { isVirtio, vpVdpa } from "../steps/vdpa.ts";

/** The administrative address that the kernel reports for a VF if none was set. */
const noMac = "00:00:00:00:00:00";

/** Returns the steps for VFs that do not exist yet. They will have the kernel's defaults. */
export function stepsForNewVfs(pf: InterfaceStatus, group: VfGroup, range: VfRange): readonly PfStep[] {
  return stepsForVfs(range, (vfId) => {
    if (assignedDriver(pf, group) !== undefined) return [bind(pf, vfId, undefined, group)];
    return configureNetdevice(pf, vfId, group);
  });
}

/** Returns the steps for VFs that exist, and whose drivers an earlier step unbinds. */
export function stepsForUnboundVfs(pf: InterfaceStatus, group: VfGroup, range: VfRange): readonly PfStep[] {
  return bindFirst(
    stepsForVfs(range, (vfId) => [
      bind(pf, vfId, undefined, group),
      ...(assignedDriver(pf, group) === undefined ? configureNetdevice(pf, vfId, group) : []),
    ]),
  );
}

/** Binds a VF that belongs to no group, and whose driver was unbound for a change of the eswitch mode. */
export function bindUngrouped(pf: InterfaceStatus, vfId: number): PfStep {
  return bind(pf, vfId, undefined, {});
}

/** Returns the steps for VFs that exist and are not removed. */
export function stepsForExistingVfs(pf: InterfaceStatus, group: VfGroup, range: VfRange): readonly PfStep[] {
  const vfs = (pf.Vfs ?? []).filter(({ vfID }) => includesVf(range, vfID));
  return bindFirst(
    vfs.toSorted((a, b) => a.vfID - b.vfID).flatMap((vf) => [...stepsForVf(pf, vf, group), ...resetOf(pf, vf)]),
  );
}

/** The owner of an externally managed PF decides about the settings of its VFs. */
function resetOf(
  { pciAddress, externallyManaged }: InterfaceStatus,
  { vfID: vfId, unclean }: VfStatus,
): readonly PfStep[] {
  if (unclean?.reset !== true || externallyManaged === true) return [];
  return [{ kind: "reset-vf", pciAddress, vfId, settings: unclean.settings.map(({ name }) => name) }];
}

/** The interfaces of all VFs then appear while udev handles the first of them, and need to be listed only once. */
function bindFirst(steps: readonly PfStep[]): readonly PfStep[] {
  const isBind = ({ kind }: PfStep) => kind === "bind-driver";
  return [...steps.filter(isBind), ...steps.filter((step) => !isBind(step))];
}

/** A deviceType becomes the name of a driver and of a kernel module. Steps are planned for these values only. */
const deviceTypes: ReadonlySet<string> = new Set(["netdevice", "vfio-pci"]);

/** Reports whether the deviceType is supported. An object that was stored before the CRD had an enum can have any value. */
export function isKnownDeviceType(group: VfGroup): boolean {
  return group.deviceType === undefined || deviceTypes.has(group.deviceType);
}

/**
 * Returns the driver that the VFs of the group need instead of the one that the kernel chooses; undefined if there is none. An absent
 * deviceType means "netdevice", the default of the CRD.
 */
function assignedDriver(pf: InterfaceStatus, { deviceType = "netdevice", vdpaType }: VfGroup): string | undefined {
  if (deviceType !== "netdevice") return deviceType;
  return vdpaType && isVirtio(pf) ? vpVdpa : undefined;
}

/** Reports whether a VF has this driver only because something bound it, and not by the kernel's choice. */
function isAssigned(driver: string): boolean {
  return isUserSpaceDriver(driver) || driver === vpVdpa;
}

function stepsForVf(pf: InterfaceStatus, vf: VfStatus, group: VfGroup): readonly PfStep[] {
  // The DRA driver binds what a claim asks for. The policy decides again when the claim has ended.
  if (vf.claim?.driver !== undefined) return [];
  const driver = vf.driver === "" ? undefined : vf.driver;
  const wanted = assignedDriver(pf, group);
  if (wanted !== undefined) return driver === wanted ? [] : [bind(pf, vf.vfID, driver, group)];
  if (driver === undefined || isAssigned(driver)) {
    return [bind(pf, vf.vfID, driver, group), ...configureNetdevice(pf, vf.vfID, group)];
  }
  if (vf.name === undefined || vf.name === "") {
    // Unless the daemon knows better, the VF belongs to a pod, which may have changed its settings.
    return vf.missingInterface === "rebind" ? bindAgain(pf, vf.vfID, driver, group) : [];
  }
  const steps: PfStep[] = [];
  // An absent adminMac is unknown: upstream's daemon does not report it, and the interface of the PF may be missing.
  if (hasVfMacs(pf) && vf.adminMac === noMac) steps.push(setMac(pf, vf.vfID, group));
  if (wantsMtu(group) && vf.mtu !== undefined && vf.mtu !== group.mtu) {
    steps.push({ kind: "set-vf-mtu", pciAddress: pf.pciAddress, vfId: vf.vfID, from: vf.mtu, to: group.mtu });
  }
  return steps;
}

/** Returns the steps for a VF that no pod has, and whose driver has not created its interface. */
function bindAgain(pf: InterfaceStatus, vfId: number, from: string, group: VfGroup): readonly PfStep[] {
  const again = { kind: "bind-driver", pciAddress: pf.pciAddress, vfId, from, to: "default", isAgain: true } as const;
  const settings = configureNetdevice(pf, vfId, group);
  return [again, ...settings.map((step) => (step.kind === "set-vf-mac" ? { ...step, isFree: true as const } : step))];
}

/** Returns the steps for a netdevice whose interface was not observed yet. */
function configureNetdevice(pf: InterfaceStatus, vfId: number, group: VfGroup): readonly PfStep[] {
  const steps: PfStep[] = hasVfMacs(pf) ? [setMac(pf, vfId, group)] : [];
  if (wantsMtu(group)) steps.push({ kind: "set-vf-mtu", pciAddress: pf.pciAddress, vfId, to: group.mtu });
  return steps;
}

function setMac(pf: InterfaceStatus, vfId: number, group: VfGroup): PfStep {
  const step = { kind: "set-vf-mac", pciAddress: pf.pciAddress, vfId } as const;
  return group.isRdma === true ? { ...step, rebind: true } : step;
}

function bind(pf: InterfaceStatus, vfId: number, from: string | undefined, group: VfGroup): PfStep {
  const to = assignedDriver(pf, group) ?? "default";
  return { kind: "bind-driver", pciAddress: pf.pciAddress, vfId, ...defined({ from }), to };
}

/** Reports whether the PF stores MAC addresses for its VFs. */
function hasVfMacs(pf: InterfaceStatus): boolean {
  return (pf.linkType ?? "ETH").toUpperCase() === "ETH" && !isVirtio(pf);
}

/** Upstream uses 0 for "do not change the MTU". */
function wantsMtu(group: VfGroup): group is VfGroup & { readonly mtu: number } {
  return group.mtu !== undefined && group.mtu > 0;
}

function stepsForVfs(range: VfRange, stepsFor: (vfId: number) => readonly PfStep[]): readonly PfStep[] {
  const steps: PfStep[] = [];
  for (let vfId = range.first; vfId <= range.last; vfId++) steps.push(...stepsFor(vfId));
  return steps;
}

/**
 * Plans the GUIDs of InfiniBand VFs (sriov-operator.md F.4, F.6). A VF without a GUID has no connection, with any driver, so
 * VFs for virtual machines get one, too. A GUID that was set is never changed.
 * Returns the steps for VFs that do not exist yet. The kernel will have bound its driver to them.
 */
export function guidsOfNewVfs(pf: InterfaceStatus, group: VfGroup, { first, last }: VfRange): readonly PfStep[] {
  if (!isInfiniBand(pf)) return [];
  const keepsDriver = (group.deviceType ?? "netdevice") === "netdevice";
  return Array.from({ length: last - first + 1 }, (_, nth) => setGuid(pf, first + nth, keepsDriver));
}

/** Returns the steps for VFs that exist and are not removed. A GUID that is not reported is unknown, and stays. */
export function guidsOfExistingVfs(pf: InterfaceStatus, range: VfRange): readonly PfStep[] {
  if (!isInfiniBand(pf)) return [];
  const vfs = (pf.Vfs ?? []).filter((vf) => includesVf(range, vf.vfID) && lacksGuid(vf));
  return vfs.toSorted((a, b) => a.vfID - b.vfID).map((vf) => setGuid(pf, vf.vfID, Boolean(vf.rdmaDevice)));
}

function setGuid({ pciAddress }: InterfaceStatus, vfId: number, rebind: boolean): PfStep {
  const step = { kind: "set-vf-guid", pciAddress, vfId } as const;
  return rebind ? { ...step, rebind } : step;
}

/** An RDMA device without a GUID was created before the PF assigned one: the daemon was killed between the two. */
function lacksGuid({ adminGuid, guid }: VfStatus): boolean {
  return isZero(adminGuid) || isZero(guid);
}

function isZero(guid: string | undefined): boolean {
  return guid !== undefined && /^[0:]+$/.test(guid);
}

function isInfiniBand({ linkType }: InterfaceStatus): boolean {
  return linkType?.toUpperCase() === "IB";
}
