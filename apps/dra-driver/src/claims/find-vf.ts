// SPDX-License-Identifier: Apache-2.0
/** findVf looks a VF up in the state of the node, and checks in the kernel that it is the same VF. */
import {
  err,
  ok,
  parsePciAddress,
  type InterfaceStatus,
  type PciAddress,
  type Result,
  type SriovNetworkNodeState,
  type VfGroup,
  type VfStatus,
} from "@switchyard/api";
import type { SriovSysfs } from "@switchyard/host";
import { includesVf, parseVfRange } from "@switchyard/policy";

/** A VF that belongs to a resource. */
export interface NodeVf {
  readonly pf: PciAddress;
  readonly address: PciAddress;
  readonly nic: InterfaceStatus;
  readonly vf: VfStatus;
  readonly group: VfGroup;
}

/** Returns the VF, or why no claim can have it: a sentence. */
export function findVf({ spec, status }: SriovNetworkNodeState, address: PciAddress): Result<NodeVf, string> {
  for (const nic of status?.interfaces ?? []) {
    const vf = nic.Vfs?.find(({ pciAddress }) => pciAddress === address);
    const pf = parsePciAddress(nic.pciAddress);
    if (vf === undefined || !pf.ok) continue;
    const groups = spec?.interfaces?.find(({ pciAddress }) => pciAddress === nic.pciAddress)?.vfGroups ?? [];
    const group = groups.find(({ resourceName, vfRange = "" }) => {
      const range = parseVfRange(vfRange);
      return Boolean(resourceName) && range.ok && includesVf(range.value, vf.vfID);
    });
    if (group === undefined) return err(`VF ${address} of PF ${nic.pciAddress} belongs to no resource of a policy`);
    return ok({ pf: pf.value, address, nic, vf, group });
  }
  return err(`VF ${address} is not in the status of the node's SriovNetworkNodeState`);
}

/** Returns a sentence if the kernel does not have this VF on this PF. Rejects with HostError. */
export async function kernelProblem(
  { pf, address, vf }: NodeVf,
  sriov: Pick<SriovSysfs, "readPf">,
): Promise<string | undefined> {
  const found = await sriov.readPf(pf);
  if (found === undefined) return `PF ${pf} of VF ${address} does not exist`;
  const isSame = found.sriov?.vfs.some(({ vfId, pciAddress }) => vfId === vf.vfID && pciAddress === address) === true;
  return isSame ? undefined : `VF ${vf.vfID} of PF ${pf} is not ${address} in the kernel`;
}
