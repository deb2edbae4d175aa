// SPDX-License-Identifier: Apache-2.0
/**
 * sharedGroups finds VFs for vfio-pci that share their IOMMU group with other devices. The bind succeeds, but a pod cannot open such a
 * VF: the group belongs to one process, and is "not viable" while the driver of another device uses it (vfio/group.c, 6.12).
 */
import { isUserSpaceDriver, type InterfaceStatus, type VfGroup } from "@switchyard/api";
import { includesVf, type VfRange } from "@switchyard/policy";
import type { PlanProblem } from "../problem.ts";

/** VFs that a message names. */
const maxShown = 3;

/** Returns the problem of a group with such VFs. `field` is the path of the group. */
export function sharedGroups(
  { pciAddress, Vfs: vfs = [] }: InterfaceStatus,
  { deviceType = "netdevice" }: VfGroup,
  { range, field }: { readonly range: VfRange; readonly field: string },
): readonly PlanProblem[] {
  if (!isUserSpaceDriver(deviceType)) return [];
  const sharing = vfs.filter(({ vfID, iommuGroupPeers = [] }) => includesVf(range, vfID) && iommuGroupPeers.length > 0);
  if (sharing.length === 0) return [];
  const shown = sharing.slice(0, maxShown).map(({ vfID, iommuGroupPeers = [] }) => {
    return `VF ${vfID} of ${pciAddress} shares its IOMMU group with ${iommuGroupPeers.join(", ")}`;
  });
  const others = sharing.length - shown.length;
  const more = others === 0 ? [] : [others === 1 ? "so does 1 other VF" : `so do ${others} other VFs`];
  const message =
    `${[...shown, ...more].join("; ")}; no pod can use it alone: put the card into a slot whose bridges have ACS, ` +
    "or use deviceType netdevice";
  return [{ code: "shared-iommu-group", field: `${field}.deviceType`, pciAddress, message }];
}
