// SPDX-License-Identifier: Apache-2.0
/**
 * Plans for drivers that create fewer VFs than requested, of which the kernel only warns (drivers/pci/iov.c,
 * sriov_numvfs_store). bnxt_en does so regularly: the number depends on the rings, the RDMA queues and the firmware of the
 * card, and a repetition has the same result. As long as the created VFs exist, the same number is not requested again,
 * because each attempt would drain the node and create all VFs again. After a reboot, or when something has removed the VFs,
 * it is.
 */
import type { InterfaceSpec, InterfaceStatus } from "@switchyard/api";
import type { PlanProblem } from "../problem.ts";

/** Returns the number of VFs that the PF should have: the requested one, or the one that the driver created when asked for it. */
export function numVfsToHave(wanted: InterfaceSpec, pf: InterfaceStatus): number {
  return limitOf(wanted, pf) ?? wanted.numVfs ?? 0;
}

/** Returns the problem of a PF whose driver creates fewer VFs than requested; undefined if it has none. */
export function fewerVfsProblem(wanted: InterfaceSpec, pf: InterfaceStatus, field: string): PlanProblem | undefined {
  const created = limitOf(wanted, pf);
  if (created === undefined) return undefined;
  const { pciAddress } = pf;
  const { error } = pf.fewerVfs ?? {};
  const numVfs = wanted.numVfs ?? 0;
  const refused =
    created === 1
      ? `${numVfs} VFs were requested, but the host has refused it, so ${pciAddress} keeps its VF: ${error ?? ""}; set numVfs to a number ` +
        "that the card can have, or remove the cause and then reboot the node or remove the VF of the PF"
      : `${numVfs} VFs were requested, but the host has refused it, so ${pciAddress} keeps its ${created} VFs: ${error ?? ""}; set numVfs to ` +
        "a number that the card can have, or remove the cause and then reboot the node or remove the VFs of the PF";
  const fewer =
    `${wanted.numVfs ?? 0} VFs were requested, but the driver of ${pciAddress} created only ${created}; set numVfs to ${created}, ` +
    "or free queues and interrupts of the card for VFs (for example with fewer queues of the PF) and then reboot the node " +
    "or remove the VFs of the PF";
  const message = error === undefined ? fewer : refused;
  return { code: "fewer-vfs", field: `${field}.numVfs`, pciAddress, message };
}

function limitOf({ numVfs, externallyManaged }: InterfaceSpec, pf: InterfaceStatus): number | undefined {
  const { requested, created } = pf.fewerVfs ?? {};
  if (externallyManaged === true || requested === undefined || requested !== numVfs) return undefined;
  return pf.numVfs === created ? created : undefined;
}
