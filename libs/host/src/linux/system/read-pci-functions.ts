// SPDX-License-Identifier: Apache-2.0
/**
 * Reads PFs, their VFs and the drivers of PCI functions from /sys/bus/pci/devices. Each VF costs three reads: its address, its
 * driver and its interfaces. Everything else is read from its PF. All functions reject with errors of Node, and with
 * HostError EPROTO if sysfs has no valid number of VFs. The paths need no
 * normalization, which would be a quarter of the CPU time of reading a file.
 */
import { defined, parsePciAddress, type PciAddress } from "@switchyard/api";
import { mapConcurrently } from "@switchyard/service";
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { HostError } from "../../calls/host-error.ts";
import type { PciBinding, SysfsPf, SysfsVf } from "../../ports/sriov-sysfs.ts";
import {
  exists,
  readAttribute,
  readInode,
  readLinkName,
  readLockedAttribute,
  readNames,
  readRealPath,
} from "./read-sysfs.ts";

const functionsAtOnce = 4;

/** Returns all network PFs in the directory `devices` by ascending address, except those of `except`, which are not read. */
export async function readPfs(devices: string, except: readonly PciAddress[]): Promise<readonly SysfsPf[]> {
  const vfs = new Set<PciAddress>();
  // The address of a VF is higher than that of its PF. Most VFs are therefore known when their address is reached, and skipped.
  const addresses = readdirSync(devices).sort().flatMap(toAddress);
  const wanted = addresses.filter((address) => !except.includes(address));
  const pfs = await mapConcurrently(wanted, functionsAtOnce, async (address) => {
    const pf = vfs.has(address) ? undefined : await readPf(devices, address);
    for (const { pciAddress } of pf?.sriov?.vfs ?? []) vfs.add(pciAddress);
    return pf;
  });
  return pfs.filter((pf) => pf !== undefined);
}

/** Returns undefined if the address has no network PF. */
export async function readPf(devices: string, pciAddress: PciAddress): Promise<SysfsPf | undefined> {
  const directory = `${devices}/${pciAddress}`;
  if (readAttribute(`${directory}/class`)?.startsWith("0x02") !== true) return undefined;
  if (exists(`${directory}/physfn`)) return undefined; // a VF

  const totalVfs = readAttribute(`${directory}/sriov_totalvfs`);
  // Blocks while it is written, because both take the lock of the device. The VFs are listed when it is free.
  const numVfs = totalVfs === undefined ? undefined : await readLockedAttribute(`${directory}/sriov_numvfs`);
  const vendor = readAttribute(`${directory}/vendor`);
  const deviceId = readAttribute(`${directory}/device`);
  const driver = readLinkName(`${directory}/driver`);
  if (vendor === undefined || deviceId === undefined) return undefined; // removed meanwhile

  const ids = { vendor: digitsOf(vendor), deviceId: digitsOf(deviceId) };
  const place = defined({ pcieRoot: readPcieRoot(directory), numaNode: readNumaNode(directory) });
  const facts = { pciAddress, ...ids, ...defined({ driver }), netdevs: readNetdevs(directory, driver), ...place };
  if (totalVfs === undefined || numVfs === undefined) return facts;
  const sriov = { totalVfs: numberOfVfs(totalVfs, pciAddress), numVfs: numberOfVfs(numVfs, pciAddress) };
  return { ...facts, sriov: { ...sriov, vfs: readVfs(directory, sriov.numVfs, ids.vendor) } };
}

/**
 * Returns undefined if the function does not exist. sysfs gives each file an inode number that it does not use again as long as
 * the kernel runs (kernfs_new_node, 6.12).
 */
export async function readBinding(devices: string, device: PciAddress): Promise<PciBinding | undefined> {
  const directory = `${devices}/${device}`;
  const created = readInode(directory);
  if (created === undefined) return undefined;
  const driver = readLinkName(`${directory}/driver`);
  const bound = readInode(`${directory}/driver`, { isLink: true });
  const driverOverride = await readDriverOverride(directory);
  return { ...defined({ driver, driverOverride }), incarnation: `${created}.${bound ?? "unbound"}` };
}

/** The kernel writes "(null)" for a function without override. */
async function readDriverOverride(directory: string): Promise<string | undefined> {
  const text = await readLockedAttribute(`${directory}/driver_override`);
  return text === "" || text === "(null)" ? undefined : text;
}

/** TotalVFs and NumVFs are registers of 16 bits (PCI Express 5.0, 9.3.3). Another text is not from the kernel's driver of PCI. */
function numberOfVfs(text: string, target: PciAddress): number {
  const count = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
  if (count <= 0xffff) return count;
  throw new HostError({ action: "read number of VFs", target }, "EPROTO", { words: "sysfs has no number up to 65535" });
}

/** Returns the first part of the path of a device that is a root complex. Kubernetes compares it as text (KEP-4381). */
function readPcieRoot(directory: string): string | undefined {
  return /\/(pci[0-9a-f]{4,8}:[0-9a-f]{2})\//.exec(readRealPath(directory) ?? "")?.[1];
}

/** -1 means that the device belongs to no node. */
export function readNumaNode(directory: string): number | undefined {
  const text = readAttribute(`${directory}/numa_node`) ?? "";
  return /^\d{1,5}$/.test(text) ? Number(text) : undefined;
}

/** The VFs have the numbers from 0 to numVfs - 1 (sriov_add_vfs, 6.12). A list of the directory, with 60 names, would take longer. */
function readVfs(directory: string, numVfs: number, vendor: string): readonly SysfsVf[] {
  const vfIds = Array.from({ length: numVfs }, (_, vfId) => vfId);
  const deviceId = readFirstDeviceId(directory, vfIds);
  if (deviceId === undefined) return [];
  return vfIds.flatMap((vfId): readonly SysfsVf[] => {
    const vf = `${directory}/virtfn${vfId}`;
    const [pciAddress] = toAddress(readLinkName(vf) ?? "");
    if (pciAddress === undefined) return [];
    const driver = readLinkName(`${vf}/driver`);
    if (driver !== undefined) {
      const iommuGroupPeers = driver === "vfio-pci" ? readGroupPeers(vf, pciAddress) : [];
      const peers = defined({ iommuGroupPeers: iommuGroupPeers.length === 0 ? undefined : iommuGroupPeers });
      return [{ vfId, pciAddress, vendor, deviceId, driver, netdevs: readNetdevs(vf, driver), ...peers }];
    }
    // The VF has no driver, or was removed after its address was read.
    return exists(vf) ? [{ vfId, pciAddress, vendor, deviceId, netdevs: [] }] : [];
  });
}

/** The driver of PCI bridges does not keep a group from being used (vfio_group_has_dev, vfio/group.c, 6.12). */
function readGroupPeers(directory: string, own: PciAddress): readonly string[] {
  const group = `${directory}/iommu_group/devices`;
  return (readNames(group) ?? []).toSorted().flatMap((device): readonly string[] => {
    if (device === own || readAttribute(`${group}/${device}/class`)?.startsWith("0x0604") === true) return [];
    const driver = readLinkName(`${group}/${device}/driver`);
    return [`${device} (${driver ?? "no driver"})`];
  });
}

/** Returns the names of the interfaces of a function. Those of a virtio NIC are below its virtio device. */
function readNetdevs(directory: string, driver: string | undefined): readonly string[] {
  const devices =
    driver === virtioPciDriver
      ? (readNames(directory) ?? []).filter(isVirtioDevice).map((name) => `${directory}/${name}`)
      : [directory];
  return devices.flatMap((device) => readNames(`${device}/net`) ?? []).toSorted();
}

/** The VFs of a PF have the vendor of the PF, and all have the same device id (pci_iov_add_virtfn, 6.12). */
function readFirstDeviceId(directory: string, vfIds: readonly number[]): string | undefined {
  for (const vfId of vfIds) {
    const text = readAttribute(`${directory}/virtfn${vfId}/device`);
    if (text !== undefined) return digitsOf(text);
  }
  return undefined;
}

function toAddress(text: string): readonly PciAddress[] {
  const address = parsePciAddress(text);
  return address.ok ? [address.value] : [];
}

/** Returns "8086" for "0x8086". */
function digitsOf(attribute: string): string {
  return attribute.replace(/^0x/, "");
}

/**
 * Between the interface of a virtio NIC and its PCI function is a virtio device, "virtio4", which rtnetlink names instead of the
 * function. functionOfVirtio finds the function.
 * The driver that creates the virtio device of a PCI function. A virtio device of another driver belongs to a vDPA device.
 */
const virtioPciDriver = "virtio-pci";

/** Returns undefined if virtio-pci is not the driver of the device's parent, and if the device does not exist. Throws errors of Node. */
export function functionOfVirtio(root: string, name: string): PciAddress | undefined {
  if (!isVirtioDevice(name)) return undefined;
  const device = readRealPath(join(root, "sys/bus/virtio/devices", name));
  if (device === undefined) return undefined;
  const parent = dirname(device);
  const address = parsePciAddress(basename(parent));
  if (!address.ok || readLinkName(join(parent, "driver")) !== virtioPciDriver) return undefined;
  return address.value;
}

function isVirtioDevice(name: string): boolean {
  return /^virtio\d+$/.test(name);
}
