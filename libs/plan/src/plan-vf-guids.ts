// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the GUIDs of InfiniBand VFs (sriov-operator.md F.4, F.6). A VF without a GUID has no connection, with any driver, so
 * VFs for virtual machines get one, too. A GUID that was set is never changed.
 * Usage: `guidsOfExistingVfs(pf, range)`, before the steps that bind drivers.
 */
import type { InterfaceStatus, VfGroup, VfStatus } from "@switchyard/api";
import { includesVf, type VfRange } from "@switchyard/policy";
import type { PfStep } from "./steps/step.ts";

/** Returns the steps for VFs that do not exist yet. The kernel will have bound its driver to them. */
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
