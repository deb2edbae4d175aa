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

/**
 * Returns how many uncorrectable errors the PF has reported to the PCIe root since the last boot (Advanced Error Reporting); undefined if
 * the kernel does not count them. Rejects with HostError.
 */
export async function readPcieErrors(
  { files }: Pick<HealthHost, "files">,
  pciAddress: string,
): Promise<number | undefined> {
  const pf = parsePciAddress(pciAddress);
  if (!pf.ok) return undefined;
  const texts = await Promise.all(
    ["fatal", "nonfatal"].map((kind) => files.readText(`/sys/bus/pci/devices/${pf.value}/aer_dev_${kind}`)),
  );
  const totals = texts.flatMap((text) => /^TOTAL_ERR_(?:FATAL|NONFATAL) (\d{1,15})$/m.exec(text ?? "")?.[1] ?? []);
  return totals.length === 0 ? undefined : totals.reduce((sum, total) => sum + Number(total), 0);
}

/** Returns the problem of a VF that a claim has. Rejects with HostError. */
export async function readVfHealth(
  { sriov }: Pick<HealthHost, "sriov">,
  pciAddress: string,
): Promise<Problem | undefined> {
  const vf = parsePciAddress(pciAddress);
  if (!vf.ok) return undefined;
  const binding = await sriov.readBinding(vf.value);
  if (binding === undefined) return { reason: "vf-gone", message: `VF ${vf.value} does not exist any longer` };
  return binding.driver === undefined ? { reason: "driver-lost", message: `VF ${vf.value} has no driver` } : undefined;
}
