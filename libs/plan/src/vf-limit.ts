// SPDX-License-Identifier: Apache-2.0
/**
 * Checks a number of VFs against the limit of a PF, which its driver reports as sriov_totalvfs. On Mellanox cards the
 * limit is a firmware setting, which Switchyard does not change yet. The plan and the admission webhook both use this
 * function, so they report the same message.
 * Usage: `const message = vfLimitProblem(spec.numVfs ?? 0, pf)?.message`.
 */
import type { InterfaceStatus } from "@switchyard/api";
import type { PlanProblem } from "./problem.ts";

export type VfLimitProblem = Pick<PlanProblem, "message"> & { readonly code: "no-sriov" | "too-many-vfs" };

/** Returns why the PF cannot have `numVfs` VFs, or undefined if it can. */
export function vfLimitProblem(numVfs: number, pf: InterfaceStatus): VfLimitProblem | undefined {
  const { pciAddress, totalvfs } = pf;
  if (numVfs <= (totalvfs ?? 0)) return undefined;
  const requested = `${numVfs} ${numVfs === 1 ? "VF" : "VFs"} requested, but ${pciAddress}`;
  return totalvfs === undefined
    ? { code: "no-sriov", message: `${requested} has no SR-IOV capability${inFirmware(pf, "set SRIOV_EN")}` }
    : {
        code: "too-many-vfs",
        message: `${requested} supports at most ${totalvfs}${inFirmware(pf, "increase NUM_OF_VFS")}`,
      };
}

const mellanox = "15b3";

function inFirmware({ vendor }: InterfaceStatus, change: string): string {
  if (vendor !== mellanox) return "";
  return ` (${change} in its firmware with mstconfig; Switchyard does not change firmware settings yet)`;
}
