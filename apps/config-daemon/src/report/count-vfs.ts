// SPDX-License-Identifier: Apache-2.0
/**
 * countVfs counts the wanted, existing and configured VFs of a node. It is a pure function.
 * Usage: `countVfs(state.spec ?? {}, found.interfaces, plan(…).steps)`.
 */
import type { InterfaceStatus, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { changedVfs, type Step } from "@switchyard/plan";

/**
 * `wanted` counts the VFs in the spec. `existing` counts all VFs of the node, also those that Switchyard did not create.
 * `configured` counts the wanted VFs that exist and for which no step is planned.
 */
export type VfCounts = Readonly<Record<"wanted" | "existing" | "configured", number>>;

export function countVfs(
  spec: SriovNetworkNodeStateSpec,
  interfaces: readonly InterfaceStatus[],
  steps: readonly Step[],
): VfCounts {
  const found = new Map(interfaces.map((pf) => [pf.pciAddress, pf.Vfs ?? []]));
  const recreated = new Set<string>();
  const unfinished = new Set<string>();
  for (const step of steps) {
    if (changedVfs(step)?.vfId === "all" && "pciAddress" in step) recreated.add(step.pciAddress);
    else if ("vfId" in step) unfinished.add(`${step.pciAddress} ${step.vfId}`);
  }

  let wanted = 0;
  let configured = 0;
  for (const { pciAddress, numVfs = 0 } of spec.interfaces ?? []) {
    wanted += numVfs;
    if (recreated.has(pciAddress)) continue;
    const isDone = (vfId: number) => vfId < numVfs && !unfinished.has(`${pciAddress} ${vfId}`);
    configured += (found.get(pciAddress) ?? []).filter(({ vfID }) => isDone(vfID)).length;
  }
  return { wanted, existing: [...found.values()].reduce((sum, vfs) => sum + vfs.length, 0), configured };
}
