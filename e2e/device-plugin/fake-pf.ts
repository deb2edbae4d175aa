// SPDX-License-Identifier: Apache-2.0
/**
 * A PF without hardware: the status that a config daemon would report for it, and the sysfs files that match the
 * status.
 */
import {
  sriovNetworkNodeStates,
  type InterfaceStatus,
  type SriovNetworkNodeState,
  type SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import { isKubeObject, objectPath, type KubeObject, type Transport } from "@switchyard/kube";
import { namespace } from "@switchyard/test-cluster";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface PfOptions extends Partial<InterfaceStatus> {
  readonly numVfs: number;
  /** PCI bus of the PF (default 1): ens1f0 is 0000:01:00.0. */
  readonly slot?: number;
}

/** Returns the addresses of the VFs `first` to `last`. */
export function vfAddresses(first: number, last: number, slot = 1): readonly string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `0000:0${slot}:10.${first + index}`);
}

/** Returns the status of an igb port with this number of VFs, all configured. */
export function pfStatus({ numVfs, slot = 1, ...rest }: PfOptions): InterfaceStatus {
  const [name, pciAddress] = [`ens${slot}f0`, `0000:0${slot}:00.0`];
  const Vfs = vfAddresses(0, numVfs - 1, slot).map((address, vfID) => {
    const adminMac = `02:00:00:00:0${slot}:0${vfID}`;
    return { pciAddress: address, vfID, name: `${name}v${vfID}`, driver: "igbvf", adminMac, mac: adminMac, mtu: 1500 };
  });
  return {
    pciAddress,
    name,
    vendor: "8086",
    deviceID: "10c9",
    driver: "igb",
    mtu: 1500,
    linkType: "ETH",
    linkAdminState: "up",
    totalvfs: 8,
    eSwitchMode: "legacy",
    owned: true,
    numVfs,
    ...(numVfs === 0 ? {} : { Vfs }),
    ...rest,
  };
}

/** Writes the status as the daemon does, for the current generation of the node state. Conditions are kept. */
export async function report(
  transport: Transport,
  name: string,
  status: Omit<SriovNetworkNodeStateStatus, "observedGeneration" | "conditions">,
): Promise<void> {
  const state = await readState(transport, name);
  await transport.request({
    method: "PATCH",
    path: objectPath(sriovNetworkNodeStates, { name, namespace }, "status"),
    contentType: "application/merge-patch+json",
    body: { status: { ...status, observedGeneration: state.metadata.generation } },
  });
}

/** Rejects with "NotFound" if the operator has not created the node state yet. */
export async function readState(transport: Transport, name: string): Promise<SriovNetworkNodeState> {
  const path = objectPath(sriovNetworkNodeStates, { name, namespace });
  const state = await transport.request({ method: "GET", path });
  if (!isNodeState(state)) throw new TypeError(`${name} is not a SriovNetworkNodeState`);
  return state;
}

// Checks nothing more, because the API server has validated the object against the CRD.
function isNodeState(object: unknown): object is KubeObject & SriovNetworkNodeState {
  return isKubeObject(object) && object.kind === sriovNetworkNodeStates.kind;
}

/** Writes the boot id, as a starting kernel does. VFs stay, as on NICs that keep them over a reboot. */
export async function startKernel(root: string, bootId: string): Promise<void> {
  const directory = join(root, "proc/sys/kernel/random");
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "boot_id"), `${bootId}\n`);
}

/**
 * Recreates the VFs, bound to igbvf. The old files are removed after the new ones are created, so that no file gets the
 * inode number of an old one, as in sysfs.
 */
export async function makeVfs(root: string, addresses: readonly string[]): Promise<void> {
  for (const address of addresses) {
    const device = join(root, "sys/bus/pci/devices", address);
    const old = `${device}.old`;
    await rename(device, old).catch(() => undefined);
    await mkdir(device, { recursive: true });
    await symlink("../../../bus/pci/drivers/igbvf", join(device, "driver"));
    await rm(old, { recursive: true, force: true });
  }
}

/**
 * writeFakeSysfs writes the part of sysfs in which the real device plugin looks for VFs.
 * Writes PFs with their VFs below `sys`. The VFs have the PCI device ID `vfDevice`, and no netdevs.
 */
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
