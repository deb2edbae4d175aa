// SPDX-License-Identifier: Apache-2.0
/**
 * Reads PFs, their VFs and the drivers of PCI functions from /sys/bus/pci/devices. Each VF costs three reads: its address, its
 * driver and its interfaces. Everything else is read from its PF. All functions reject with errors of Node.
 * Usage: `const pfs = await readPfs("/sys/bus/pci/devices", [])`.
 */
import { defined, parsePciAddress, type PciAddress } from "@switchyard/api";
import { mapConcurrently } from "@switchyard/service";
import { promises as fs } from "node:fs";
import { join } from "node:path";
import type { PciBinding, PfFacts, VfFacts } from "../ports/sriov-sysfs.ts";
import { exists, readAttribute, readInode, readLinkName, readNames } from "./read-sysfs.ts";

const functionsAtOnce = 4;
const vfsAtOnce = 4;

/** Returns all network PFs in the directory `devices` by ascending address, except those of `except`, which are not read. */
export async function readPfs(devices: string, except: readonly PciAddress[]): Promise<readonly PfFacts[]> {
  const vfs = new Set<PciAddress>();
  // The address of a VF is higher than that of its PF. Most VFs are therefore known when their address is reached, and skipped.
  const addresses = (await fs.readdir(devices)).sort().flatMap(toAddress);
  const wanted = addresses.filter((address) => !except.includes(address));
  const pfs = await mapConcurrently(wanted, functionsAtOnce, async (address) => {
    const pf = vfs.has(address) ? undefined : await readPf(devices, address);
    for (const { pciAddress } of pf?.sriov?.vfs ?? []) vfs.add(pciAddress);
    return pf;
  });
  return pfs.filter((pf) => pf !== undefined);
}

/** Returns undefined if the address has no network PF. */
export async function readPf(devices: string, pciAddress: PciAddress): Promise<PfFacts | undefined> {
  const directory = join(devices, pciAddress);
  const classCode = await readAttribute(join(directory, "class"));
  if (classCode?.startsWith("0x02") !== true) return undefined;

  const [vendor, deviceId, driver, totalVfs, numVfs] = await Promise.all([
    readAttribute(join(directory, "vendor")),
    readAttribute(join(directory, "device")),
    readLinkName(join(directory, "driver")),
    readAttribute(join(directory, "sriov_totalvfs")),
    readAttribute(join(directory, "sriov_numvfs")), // blocks while it is written, because both take the lock of the device
  ]);
  const [names, netdevs] = await Promise.all([readNames(directory), readNames(join(directory, "net"))]);
  if (vendor === undefined || deviceId === undefined || names === undefined) return undefined; // removed meanwhile
  if (names.includes("physfn")) return undefined; // a VF

  const ids = { vendor: digitsOf(vendor), deviceId: digitsOf(deviceId) };
  const facts = { pciAddress, ...ids, ...defined({ driver }), netdevs: (netdevs ?? []).toSorted() };
  if (totalVfs === undefined || numVfs === undefined) return facts;
  const vfs = await readVfs(directory, vfIdsOf(names), ids.vendor);
  return { ...facts, sriov: { totalVfs: Number.parseInt(totalVfs, 10), numVfs: Number.parseInt(numVfs, 10), vfs } };
}

/**
 * Returns undefined if the function does not exist. sysfs gives each file an inode number that it does not use again as long as
 * the kernel runs (kernfs_new_node, 6.12).
 */
export async function readBinding(devices: string, device: PciAddress): Promise<PciBinding | undefined> {
  const directory = join(devices, device);
  const created = await readInode(directory);
  if (created === undefined) return undefined;
  const driver = await readLinkName(join(directory, "driver"));
  const bound = await readInode(join(directory, "driver"), { isLink: true });
  return { ...defined({ driver }), incarnation: `${created}.${bound ?? "unbound"}` };
}

async function readVfs(directory: string, vfIds: readonly number[], vendor: string): Promise<readonly VfFacts[]> {
  const deviceId = await readFirstDeviceId(directory, vfIds);
  if (deviceId === undefined) return [];
  const vfs = await mapConcurrently(vfIds, vfsAtOnce, async (vfId) => {
    const vf = join(directory, `virtfn${vfId}`);
    const [address, driver, netdevs] = await Promise.all([
      readLinkName(vf),
      readLinkName(join(vf, "driver")),
      readNames(join(vf, "net")),
    ]);
    const [pciAddress] = toAddress(address ?? "");
    if (pciAddress === undefined) return undefined;
    if (driver !== undefined)
      return { vfId, pciAddress, vendor, deviceId, driver, netdevs: (netdevs ?? []).toSorted() };
    // The VF has no driver, or was removed after its address was read.
    return (await exists(vf)) ? { vfId, pciAddress, vendor, deviceId, netdevs: [] } : undefined;
  });
  return vfs.filter((vf) => vf !== undefined);
}

/** The VFs of a PF have the vendor of the PF, and all have the same device id (pci_iov_add_virtfn, 6.12). */
async function readFirstDeviceId(directory: string, vfIds: readonly number[]): Promise<string | undefined> {
  for (const vfId of vfIds) {
    const text = await readAttribute(join(directory, `virtfn${vfId}`, "device"));
    if (text !== undefined) return digitsOf(text);
  }
  return undefined;
}

function toAddress(text: string): readonly PciAddress[] {
  const address = parsePciAddress(text);
  return address.ok ? [address.value] : [];
}

function vfIdsOf(names: readonly string[]): readonly number[] {
  return names
    .flatMap((name) => /^virtfn(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/** Returns "8086" for "0x8086". */
function digitsOf(attribute: string): string {
  return attribute.replace(/^0x/, "");
}
