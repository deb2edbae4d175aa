// SPDX-License-Identifier: Apache-2.0
/**
 * Checks a number of VFs against the limit of a PF, which its driver reports as sriov_totalvfs. On Mellanox cards the
 * limit is a firmware setting, which Switchyard raises (plan-firmware.ts). The plan and the admission webhook both use
 * this function, so they report the same message.
 * Usage: `const message = vfLimitProblem(spec.numVfs ?? 0, pf)?.message`.
 */
import type { InterfaceStatus } from "@switchyard/api";
import type { PlanProblem } from "./problem.ts";

export type VfLimitProblem = Pick<PlanProblem, "message"> & { readonly code: "no-sriov" | "too-many-vfs" };

/** Returns why the PF cannot have `numVfs` VFs, or undefined if it can. */
export function vfLimitProblem(numVfs: number, pf: InterfaceStatus): VfLimitProblem | undefined {
  const { pciAddress, totalvfs } = pf;
  if (numVfs <= (totalvfs ?? 0) || canRaise(numVfs, pf)) return undefined;
  const requested = `${numVfs} ${numVfs === 1 ? "VF" : "VFs"} requested, but ${pciAddress}`;
  return totalvfs === undefined
    ? { code: "no-sriov", message: `${requested} has no SR-IOV capability${inFirmware(numVfs, pf)}` }
    : { code: "too-many-vfs", message: `${requested} supports at most ${totalvfs}${inFirmware(numVfs, pf)}` };
}

/** The largest NUM_OF_VFS that upstream sets, too (sriov-operator.md E.3). */
const mostFirmwareVfs = 128;

export function isMellanox({ vendor }: InterfaceStatus): boolean {
  return vendor === "15b3";
}

function canRaise(numVfs: number, pf: InterfaceStatus): boolean {
  return isMellanox(pf) && numVfs <= mostFirmwareVfs && pf.firmware?.unavailable === undefined;
}

function inFirmware(numVfs: number, pf: InterfaceStatus): string {
  if (!isMellanox(pf)) return "";
  if (numVfs > mostFirmwareVfs) return `, and its firmware is set to at most ${mostFirmwareVfs}`;
  return `, and its firmware settings cannot be changed: ${pf.firmware?.unavailable ?? ""}`;
}
