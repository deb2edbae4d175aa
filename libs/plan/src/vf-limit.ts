// SPDX-License-Identifier: Apache-2.0
/**
 * How many VFs a PF can have: what its driver reports as sriov_totalvfs. Of Mellanox cards that is what the firmware is
 * set to, and nothing here changes firmware yet. The daemon's plan and admission say the same, by this function.
 * Usage: `vfLimitProblem(spec.numVfs, pf)?.message`.
 */
import type { InterfaceStatus } from "@switchyard/api";
import type { PlanProblem } from "./problem.ts";

export type VfLimitProblem = Pick<PlanProblem, "message"> & { readonly code: "no-sriov" | "too-many-vfs" };

/** Why the PF cannot have `numVfs` VFs; undefined where it can. */
export function vfLimitProblem(numVfs: number, pf: InterfaceStatus): VfLimitProblem | undefined {
  const { pciAddress, totalvfs } = pf;
  if (numVfs <= (totalvfs ?? 0)) return undefined;
  const asked = `${numVfs} VFs asked for, ${pciAddress}`;
  return totalvfs === undefined
    ? { code: "no-sriov", message: `${asked} has no SR-IOV capability${inFirmware(pf, "set SRIOV_EN")}` }
    : { code: "too-many-vfs", message: `${asked} can have ${totalvfs}${inFirmware(pf, "raise NUM_OF_VFS")}` };
}

const mellanox = "15b3";

function inFirmware({ vendor }: InterfaceStatus, change: string): string {
  if (vendor !== mellanox) return "";
  return ` (${change} in its firmware first, with mstconfig: Switchyard does not change it yet)`;
}
