// SPDX-License-Identifier: Apache-2.0
/**
 * Which pods have which VFs, as the config daemon reports it. What is not known counts as held: a daemon of an older release
 * reports no holders, and the kubelet may not answer.
 * Usage: `holderOf(state.status ?? {}, vf)` is "free" only if no pod has the VF.
 */
import {
  isUserSpaceDriver,
  type HoldersStatus,
  type InterfaceStatus,
  type VfHolder,
  type VfStatus,
} from "@switchyard/api";

/** The parts of a status of a node state that are used. */
export interface HeldVfs {
  readonly holders?: HoldersStatus | undefined;
  readonly interfaces?: readonly InterfaceStatus[] | undefined;
}

/** Returns the pod that has, or was last known to have, the VF. The pod of a claim is not known before the kubelet has started it. */
export function holderOf({ holders }: Pick<HeldVfs, "holders">, vf: VfStatus): VfHolder | "free" | "unknown" {
  if (vf.holder !== undefined) return vf.holder;
  if (vf.claim !== undefined) return "unknown";
  return holders?.known === true && !isAway(vf) ? "free" : "unknown";
}

/** Reports whether the interface of the VF may be in a network namespace that the kubelet does not know. */
function isAway({ driver, name, missingInterface, vdpaType }: VfStatus): boolean {
  return Boolean(driver) && !isUserSpaceDriver(driver ?? "") && !name && !missingInterface && !vdpaType;
}
