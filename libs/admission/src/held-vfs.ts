// SPDX-License-Identifier: Apache-2.0
/**
 * readHolders keeps which VFs of a node pods have, in a few numbers: the names of the pods of 1,000 nodes would take megabytes. Warnings
 * count the pods that a change takes VFs from, or that keep VFs of another resource.
 * Usage: `const holders = readHolders(state.status ?? {}); if (holders) holdersIn(holders, "0000:3b:00.0", [{ first: 0, last: 3 }]);`
 */
import type { SriovNetworkNodeStateStatus } from "@switchyard/api";
import { holderOf } from "@switchyard/policy";
import type { VfIds } from "./impact/changed-pfs.ts";

/**
 * By the PCI address of each PF, the number of the pod that has each VF, by the index of the VF. Each pod of the node has a number from 1
 * on; 0 is no pod.
 */
export type NodeHolders = ReadonlyMap<string, readonly number[]>;

/** The index of a VF has 16 bits. Nodes write their states themselves, and the index is a place in an array here. */
const lastVf = 65_535;

/** Returns undefined if it is not known of each VF which pod has it, or if the index of a VF is none. */
export function readHolders(status: SriovNetworkNodeStateStatus): NodeHolders | undefined {
  if (status.holders?.known !== true) return undefined;
  const numbers = new Map<string, number>();
  const byPf = new Map<string, readonly number[]>();
  for (const { pciAddress, Vfs = [] } of status.interfaces ?? []) {
    const pods: number[] = [];
    for (const vf of Vfs) {
      const holder = holderOf(status, vf);
      if (holder === "unknown" || !(vf.vfID >= 0 && vf.vfID <= lastVf)) return undefined;
      if (holder === "free") continue;
      const name = `${holder.namespace}/${holder.name} ${holder.uid ?? ""}`;
      const number = numbers.get(name) ?? numbers.size + 1;
      numbers.set(name, number);
      pods[vf.vfID] = number;
    }
    if (pods.length > 0)
      byPf.set(
        pciAddress,
        Array.from(pods, (pod: number | undefined) => pod ?? 0),
      );
  }
  return byPf;
}

/** Returns the pods, by their numbers, that have VFs of the PF in these ranges, a pod once for each VF. */
export function holdersIn(
  holders: NodeHolders,
  pciAddress: string,
  ranges: readonly VfIds[] | undefined,
): readonly number[] {
  const isIn = (vf: number): boolean =>
    ranges === undefined || ranges.some(({ first, last }) => first <= vf && vf <= last);
  return (holders.get(pciAddress) ?? []).filter((pod, vf) => pod !== 0 && isIn(vf));
}
