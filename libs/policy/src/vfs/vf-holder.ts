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

/** A pod that has VFs. */
export interface HolderPod {
  readonly namespace: string;
  readonly name: string;
  /** PCI addresses of the PFs of its VFs. */
  readonly pfs: readonly string[];
}

/**
 * Returns the pods that have VFs of these PFs, by "namespace/name"; undefined if it is not known of all VFs of the PFs whether pods have
 * them.
 */
export function holderPods(
  { holders, interfaces = [] }: HeldVfs,
  isRelevant: (pf: string) => boolean = () => true,
): ReadonlyMap<string, HolderPod> | undefined {
  if (holders?.known !== true) return undefined;
  const pods = new Map<string, HolderPod>();
  for (const { pciAddress, Vfs = [] } of interfaces) {
    if (!isRelevant(pciAddress)) continue;
    for (const vf of Vfs) {
      const holder = holderOf({ holders }, vf);
      if (holder === "unknown") return undefined;
      if (holder === "free") continue;
      const { namespace, name } = holder;
      const key = `${namespace}/${name}`;
      const pfs = pods.get(key)?.pfs ?? [];
      if (!pfs.includes(pciAddress)) pods.set(key, { namespace, name, pfs: [...pfs, pciAddress] });
    }
  }
  return pods;
}
