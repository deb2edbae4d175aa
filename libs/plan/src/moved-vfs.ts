// SPDX-License-Identifier: Apache-2.0
/**
 * movedVfs returns the VFs that pods have as devices of another resource than that of their VF group. No step takes such a VF from its
 * pod, and nobody else gets it: it moves to its new resource when the pod ends. It is a pure function.
 * Usage: `movedVfs(spec, status).map(describeMove)` is ["2 VFs of 0000:3b:00.0 move from lab to lab2 when their pods end"].
 */
import type { SriovNetworkNodeStateSpec, SriovNetworkNodeStateStatus, VfStatus } from "@switchyard/api";
import { hasVf, includesVf, parseVfRange, type VfSet } from "@switchyard/policy";

export interface MovedVfs {
  /** Address of the PF. */
  readonly pciAddress: string;
  /** Names of resources without prefix. */
  readonly from: string;
  readonly to: string;
  /** Indexes of the VFs, in ascending order. */
  readonly vfs: readonly number[];
}

/** VFs of `drained` are left out: their pods leave anyway. */
export function movedVfs(
  { interfaces = [] }: Pick<SriovNetworkNodeStateSpec, "interfaces">,
  observed: Pick<SriovNetworkNodeStateStatus, "interfaces">,
  drained: VfSet = new Map(),
): readonly MovedVfs[] {
  const found = new Map((observed.interfaces ?? []).map(({ pciAddress, Vfs = [] }) => [pciAddress, Vfs]));
  return interfaces.flatMap(({ pciAddress, vfGroups = [] }) => {
    const moves = new Map<string, MovedVfs & { readonly vfs: number[] }>();
    for (const { resourceName: to = "", vfRange = "" } of vfGroups) {
      const range = parseVfRange(vfRange);
      if (!range.ok || to === "") continue;
      for (const vf of found.get(pciAddress) ?? []) {
        const from = resourceOf(vf);
        const isMoved = includesVf(range.value, vf.vfID) && from !== undefined && from !== to;
        if (!isMoved || hasVf(drained, pciAddress, vf.vfID)) continue;
        const move = moves.get(`${from} ${to}`) ?? { pciAddress, from, to, vfs: [] };
        move.vfs.push(vf.vfID);
        moves.set(`${from} ${to}`, move);
      }
    }
    return [...moves.values()].map((move) => ({ ...move, vfs: move.vfs.toSorted((a, b) => a - b) }));
  });
}

/** "2 VFs of 0000:3b:00.0 move from lab to lab2 when their pods end". */
export function describeMove({ pciAddress, from, to, vfs }: MovedVfs): string {
  return vfs.length === 1
    ? `1 VF of ${pciAddress} moves from ${from} to ${to} when its pod ends`
    : `${vfs.length} VFs of ${pciAddress} move from ${from} to ${to} when their pods end`;
}

/** The resource of the pod that has the VF, without prefix; undefined if no pod has it, or not by the device plugin. */
function resourceOf({ holder }: VfStatus): string | undefined {
  return holder?.via === "device-plugin" ? holder.resource.slice(holder.resource.indexOf("/") + 1) : undefined;
}
