// SPDX-License-Identifier: Apache-2.0
/**
 * writeFakeSysfs writes the part of sysfs in which the real device plugin looks for VFs.
 * Usage: `await writeFakeSysfs(join(directory, "sys"), [pfStatus({ numVfs: 4 })], "101e");`.
 */
import type { InterfaceStatus } from "@switchyard/api";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Writes PFs with their VFs below `sys`. The VFs have the PCI device ID `vfDevice`, and no netdevs. */
export async function writeFakeSysfs(sys: string, pfs: readonly InterfaceStatus[], vfDevice: string): Promise<void> {
  const devices = join(sys, "bus/pci/devices");
  for (const { pciAddress, name, vendor, deviceID, Vfs = [] } of pfs) {
    const pf = join(devices, pciAddress);
    await mkdir(join(pf, "net", name ?? ""), { recursive: true });
    await writeFile(join(pf, "modalias"), modalias(vendor ?? "", deviceID ?? ""));
    await writeFile(join(pf, "sriov_totalvfs"), `${Vfs.length}\n`);
    await writeFile(join(pf, "sriov_numvfs"), `${Vfs.length}\n`);
    await symlink("../../drivers/mlx5_core", join(pf, "driver"));
    for (const { pciAddress: address, vfID } of Vfs) {
      const vf = join(devices, address);
      await mkdir(vf, { recursive: true });
      await writeFile(join(vf, "modalias"), modalias(vendor ?? "", vfDevice));
      await symlink("../../drivers/mlx5_core", join(vf, "driver"));
      await symlink(`../${pciAddress}`, join(vf, "physfn"));
      await symlink(`../${address}`, join(pf, `virtfn${vfID}`));
    }
  }
  await mkdir(join(sys, "bus/pci/drivers/mlx5_core"), { recursive: true });
}

/** Returns the modalias of an Ethernet device. */
function modalias(vendor: string, device: string): string {
  const [v, d] = [vendor, device].map((id) => id.toUpperCase().padStart(8, "0"));
  return `pci:v${v}d${d}sv${v}sd00000001bc02sc00i00\n`;
}
