// SPDX-License-Identifier: Apache-2.0
/**
 * readKernelVfs reads from the kernel which VFs exist, and their drivers. The status of the NodeState shows the last
 * observation of the config daemon: after a reboot it contains VFs that no longer exist.
 * Usage: `const vfs = await readKernelVfs(host.sriov, ["0000:3b:02.0"])`.
 */
import { parsePciAddress } from "@switchyard/api";
import type { PciBinding, SriovSysfs } from "@switchyard/host/sysfs";

/** Existing VFs by PCI address. */
export type KernelVfs = ReadonlyMap<string, PciBinding>;

/** Reads the VF at each address; a text that is not a PCI address is skipped. Rejects with HostError. */
export async function readKernelVfs(
  sriov: Pick<SriovSysfs, "readBinding">,
  pciAddresses: Iterable<string>,
): Promise<KernelVfs> {
  const vfs = new Map<string, PciBinding>();
  for (const pciAddress of pciAddresses) {
    const parsed = parsePciAddress(pciAddress); // from the status, which is not validated
    const vf = parsed.ok ? await sriov.readBinding(parsed.value) : undefined;
    if (vf !== undefined) vfs.set(pciAddress, vf);
  }
  return vfs;
}
