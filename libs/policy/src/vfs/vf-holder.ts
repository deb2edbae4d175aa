// SPDX-License-Identifier: Apache-2.0
/**
 * Which pods have which VFs, as the config daemon reports it. What is not known counts as held: a daemon of an older release
 * reports no holders, and the kubelet may not answer.
 * Usage: `holderOf(state.status ?? {}, vf)` is "free" only if no pod has the VF.
 */
import type { HoldersStatus, InterfaceStatus, VfHolder, VfStatus } from "@switchyard/api";

/** The parts of a status of a node state that are used. */
export interface HeldVfs {
  readonly holders?: HoldersStatus | undefined;
  readonly interfaces?: readonly InterfaceStatus[] | undefined;
}

/** Returns the pod that has, or was last known to have, the VF. */
export function holderOf({ holders }: Pick<HeldVfs, "holders">, vf: VfStatus): VfHolder | "free" | "unknown" {
  if (vf.holder !== undefined) return vf.holder;
  return holders?.known === true && !isAway(vf) ? "free" : "unknown";
}

/** Drivers that pass a device to user space: upstream's list (sriov-operator.md F.4). */
const userSpaceDrivers: ReadonlySet<string> = new Set(["vfio-pci", "uio_pci_generic", "igb_uio"]);

export function isUserSpaceDriver(driver: string): boolean {
  return userSpaceDrivers.has(driver);
}

/** Reports whether the interface of the VF may be in a network namespace that the kubelet does not know. */
function isAway({ driver, name, missingInterface, vdpaType }: VfStatus): boolean {
  return Boolean(driver) && !isUserSpaceDriver(driver ?? "") && !name && !missingInterface && !vdpaType;
}
