// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the vDPA devices of VFs (sriov-operator.md F.4, F.6). Only a device that has Switchyard's name, "vdpa:" and the PCI
 * address of its VF, is in the status, so no other device is ever removed.
 */
import { defined, type InterfaceSpec, type InterfaceStatus, type VfGroup } from "@switchyard/api";
import { includesVf, type VfRange } from "@switchyard/policy";
import { isVirtio, type VdpaType } from "../steps/vdpa.ts";
import type { PfStep } from "../steps/step.ts";

/** Returns why the group cannot have vDPA devices; undefined if it can, or if it requests none. */
export function vdpaProblem(group: VfGroup, { eSwitchMode }: InterfaceSpec, pf: InterfaceStatus): string | undefined {
  if (!group.vdpaType) return undefined;
  const shown = JSON.stringify(group.vdpaType).slice(0, 64);
  if (parseVdpaType(group.vdpaType) === undefined) {
    return `${shown} is not supported; supported values are "virtio" and "vhost"`;
  }
  if ((group.deviceType ?? "netdevice") !== "netdevice") return `${shown} requires deviceType "netdevice"`;
  return eSwitchMode === "switchdev" || isVirtio(pf) ? undefined : `${shown} requires eSwitchMode "switchdev"`;
}

/** Returns the removals of devices that the group does not request. They run before the other steps of the VFs. */
export function unwantedVdpa(pf: InterfaceStatus, group: VfGroup, range: VfRange): readonly PfStep[] {
  if (group.vdpaType) return [];
  const vfs = (pf.Vfs ?? []).filter(({ vfID, vdpaType }) => vdpaType && includesVf(range, vfID));
  return vfs.map(({ vfID }) => remove(pf, vfID));
}

/** Returns the steps for VFs that do not exist yet, or have no driver yet. They run after the other steps of the VFs. */
export function vdpaOfNewVfs(pf: InterfaceStatus, group: VfGroup, { first, last }: VfRange): readonly PfStep[] {
  const to = parseVdpaType(group.vdpaType);
  if (to === undefined) return [];
  const ids = Array.from({ length: last - first + 1 }, (_, nth) => first + nth);
  return ids.map((vfId) => ({ kind: "add-vdpa-device", pciAddress: pf.pciAddress, vfId, to }));
}

/** Returns the steps for VFs that exist and are not removed. They run after the other steps of the VFs. */
export function vdpaOfExistingVfs(pf: InterfaceStatus, group: VfGroup, range: VfRange): readonly PfStep[] {
  const to = parseVdpaType(group.vdpaType);
  if (to === undefined) return [];
  const vfs = (pf.Vfs ?? []).filter(({ vfID, vdpaType }) => includesVf(range, vfID) && vdpaType !== to);
  return vfs
    .toSorted((a, b) => a.vfID - b.vfID)
    .map(({ vfID: vfId, vdpaType }) => {
      const from = parseVdpaType(vdpaType);
      return { kind: "add-vdpa-device", pciAddress: pf.pciAddress, vfId, ...defined({ from }), to };
    });
}

/** Inserts the removal of a device before the first step that takes its VF or the driver of its VF away. */
export function withVdpaRemovals(pf: InterfaceStatus, steps: readonly PfStep[]): readonly PfStep[] {
  const devices = new Set((pf.Vfs ?? []).flatMap(({ vfID, vdpaType }) => (vdpaType ? [vfID] : [])));
  return steps.flatMap((step): readonly PfStep[] => {
    const gone = step.kind === "remove-vdpa-device" ? [step.vfId] : [...devices].filter((vfId) => ends(step, vfId));
    for (const vfId of gone) devices.delete(vfId);
    return step.kind === "remove-vdpa-device" ? [step] : [...gone.map((vfId) => remove(pf, vfId)), step];
  });
}

/** All VFs are affected by a change of their number or of the eswitch mode, and one by a change of its driver. */
function ends(step: PfStep, vfId: number): boolean {
  if ("vfId" in step) return step.vfId === vfId && (step.kind === "bind-driver" || "rebind" in step);
  return ofAllVfs.has(step.kind);
}

const ofAllVfs: ReadonlySet<string> = new Set(["set-num-vfs", "set-eswitch-mode", "set-flow-steering"]);

function remove({ pciAddress }: InterfaceStatus, vfId: number): PfStep {
  return { kind: "remove-vdpa-device", pciAddress, vfId };
}

function parseVdpaType(text: string | undefined): VdpaType | undefined {
  return text === "virtio" || text === "vhost" ? text : undefined;
}
