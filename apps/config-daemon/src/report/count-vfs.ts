// SPDX-License-Identifier: Apache-2.0
/**
 * How far the VFs of a node are, in three numbers. Pure.
 * Usage: `countVfs(state.spec, found.interfaces, plan(…).steps)`.
 */
import type { InterfaceStatus, SriovNetworkNodeStateSpec } from "@switchyard/api";
import type { Step } from "@switchyard/plan";

/**
 * `wanted` are those that the spec asks for, `existing` all that there are, whosever they are, and `configured` of those
 * wanted the ones that exist and that nothing is left to do for.
 */
export type VfCounts = Readonly<Record<"wanted" | "existing" | "configured", number>>;

export function countVfs(
  spec: SriovNetworkNodeStateSpec,
  interfaces: readonly InterfaceStatus[],
  steps: readonly Step[],
): VfCounts {
  const found = new Map(interfaces.map((pf) => [pf.pciAddress, pf.Vfs ?? []]));
  const remade = new Set<string>();
  const unfinished = new Set<string>();
  for (const step of steps) {
    if (step.kind === "set-num-vfs") remade.add(step.pciAddress);
    else if ("vfId" in step) unfinished.add(`${step.pciAddress} ${step.vfId}`);
  }

  let wanted = 0;
  let configured = 0;
  for (const { pciAddress, numVfs = 0 } of spec.interfaces ?? []) {
    wanted += numVfs;
    if (remade.has(pciAddress)) continue;
    const isDone = (vfId: number) => vfId < numVfs && !unfinished.has(`${pciAddress} ${vfId}`);
    configured += (found.get(pciAddress) ?? []).filter(({ vfID }) => isDone(vfID)).length;
  }
  return { wanted, existing: [...found.values()].reduce((sum, vfs) => sum + vfs.length, 0), configured };
}
