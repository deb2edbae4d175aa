// SPDX-License-Identifier: Apache-2.0
/**
 * VFs that are bound to a kernel driver and have no network interface on the host. Most of them are in pods. The driver
 * of another one has never created its interface. iavf does so from a work queue after a handshake with the PF, which
 * sometimes fails for good (iavf_main.c, iavf_finish_config, 6.12; seen on XXV710). In sysfs both look alike, so the
 * daemon says which VFs are not in a pod (VfStatus.missingInterface).
 * Usage: `for (const vf of vfsWithoutInterface(spec, pf)) …`
 */
import {
  isUserSpaceDriver,
  type InterfaceSpec,
  type InterfaceStatus,
  type VfGroup,
  type VfStatus,
} from "@switchyard/api";
import { includesVf, parseVfRange, type VfRange } from "@switchyard/policy";
import type { PlanProblem } from "../problem.ts";

/** Returns the VFs of groups whose pods need an interface, and which have a kernel driver and no interface on the host. */
export function vfsWithoutInterface({ vfGroups = [] }: InterfaceSpec, pf: InterfaceStatus): readonly VfStatus[] {
  return vfGroups.flatMap((group) => {
    const range = parseVfRange(group.vfRange ?? "");
    return range.ok ? ofGroup(pf, group, range.value) : [];
  });
}

/** Returns the problem of a group with VFs that no pod has, and that have no interface. `field` is the path of the group. */
export function missingInterfaces(
  pf: InterfaceStatus,
  group: VfGroup,
  at: { readonly range: VfRange; readonly field: string },
): readonly PlanProblem[] {
  const { pciAddress } = pf;
  const vfs = ofGroup(pf, group, at.range).filter(({ missingInterface }) => Boolean(missingInterface));
  const [first] = vfs;
  if (first === undefined) return [];
  const isOne = vfs.length === 1;
  const [noun, verb, has, is] = isOne ? ["VF", "is", "has", "it is"] : ["VFs", "are", "have", "they are"];
  const why =
    first.missingInterface === "permanent"
      ? "; binding the driver again did not help, and the kernel log may say why"
      : "; the daemon waits for it, and then binds the driver again once";
  const message =
    `${noun} ${vfs.map(({ vfID }) => vfID).join(", ")} of ${pciAddress} ${verb} bound to ${first.driver ?? ""}, but ${has} no ` +
    `network interface, so ${is} not offered to pods${why}`;
  return [{ code: "missing-interface", field: at.field, pciAddress, message }];
}

function ofGroup(pf: InterfaceStatus, { deviceType = "netdevice", vdpaType }: VfGroup, range: VfRange) {
  if (deviceType !== "netdevice" || vdpaType) return [];
  return (pf.Vfs ?? []).filter(
    ({ vfID, driver, name, pciAddress }) =>
      // The card of a virtual machine is its own VF.
      pciAddress !== pf.pciAddress && includesVf(range, vfID) && driver && !isUserSpaceDriver(driver) && !name,
  );
}
