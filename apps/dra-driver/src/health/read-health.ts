// SPDX-License-Identifier: Apache-2.0
/**
 * readHealth looks in the kernel for what keeps VFs from working: the PF is gone, a driver is lost, or the port has no carrier. It is a
 * reading of the moment; damp.ts decides what is reported.
 */
import { isInterfaceName, parsePciAddress, type InterfaceStatus } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import type { Problem } from "./damp.ts";

type HealthHost = Pick<Host, "sriov" | "files">;

/** Returns the problem of a PF, which is that of all its VFs. Rejects with HostError. */
export async function readPfHealth({ sriov, files }: HealthHost, nic: InterfaceStatus): Promise<Problem | undefined> {
  const pf = parsePciAddress(nic.pciAddress);
  if (!pf.ok) return undefined;
  const binding = await sriov.readBinding(pf.value);
  if (binding === undefined) return { reason: "pf-gone", message: `PF ${pf.value} does not exist any longer` };
  if (binding.driver === undefined) return { reason: "driver-lost", message: `PF ${pf.value} has no driver` };
  const { name = "" } = nic;
  if (!isInterfaceName(name) || nic.linkAdminState === "down") return undefined;
  const directory = `/sys/class/net/${name}`;
  if ((await files.readKind(directory)) === undefined) return undefined; // renamed: the status of the node follows
  const carrier = await files.readText(`${directory}/carrier`); // unreadable while the interface is down
  if (carrier?.trim() === "1") return undefined;
  return { reason: "no-carrier", message: `PF ${name} (${pf.value}) has no carrier` };
}

/** Returns the problem of a VF that a claim has. Rejects with HostError. */
export async function readVfHealth({ sriov }: HealthHost, pciAddress: string): Promise<Problem | undefined> {
  const vf = parsePciAddress(pciAddress);
  if (!vf.ok) return undefined;
  const binding = await sriov.readBinding(vf.value);
  if (binding === undefined) return { reason: "vf-gone", message: `VF ${vf.value} does not exist any longer` };
  return binding.driver === undefined ? { reason: "driver-lost", message: `VF ${vf.value} has no driver` } : undefined;
}
