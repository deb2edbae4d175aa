// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxSriovSysfs implements SriovSysfs over /sys/bus/pci. Each VF costs three reads: its address, its driver and its
 * interfaces. Everything else is read from its PF.
 * Usage: `await createLinuxSriovSysfs("/host").listPfs()`.
 */
import { constants, promises as fs } from "node:fs";
import { join } from "node:path";
import { defined, parsePciAddress, type PciAddress } from "@switchyard/api";
import { mapConcurrently } from "@switchyard/service";
import { operations } from "../calls/operations.ts";
import { toHostError, type HostOperation } from "../calls/host-error.ts";
import { checkKernelName } from "./kernel-name.ts";
import { exists, readAttribute, readInode, readLinkName, readNames } from "./read-sysfs.ts";
import type { PciBinding, PfFacts, SriovSysfs, VfFacts } from "../ports/sriov-sysfs.ts";

const functionsAtOnce = 4;
const vfsAtOnce = 4;

/** `root` is "/", "/host" or the directory of a captured tree. */
export function createLinuxSriovSysfs(root: string): SriovSysfs {
  const devices = join(root, "sys/bus/pci/devices");

  async function listPfs(except: readonly PciAddress[]): Promise<readonly PfFacts[]> {
    const vfs = new Set<PciAddress>();
    // The address of a VF is higher than that of its PF. Most VFs are therefore known when their address is reached, and skipped.
    const addresses = (await fs.readdir(devices)).sort().flatMap(toAddress);
    const wanted = addresses.filter((address) => !except.includes(address));
    const pfs = await mapConcurrently(wanted, functionsAtOnce, async (address) => {
      const pf = vfs.has(address) ? undefined : await readPf(address);
      for (const { pciAddress } of pf?.sriov?.vfs ?? []) vfs.add(pciAddress);
      return pf;
    });
    return pfs.filter((pf) => pf !== undefined);
  }

  async function readPf(pciAddress: PciAddress): Promise<PfFacts | undefined> {
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
    return {
      ...{ pciAddress, ...ids, ...defined({ driver }) },
      netdevs: (netdevs ?? []).toSorted(),
      ...(totalVfs !== undefined &&
        numVfs !== undefined && {
          sriov: {
            totalVfs: Number.parseInt(totalVfs, 10),
            numVfs: Number.parseInt(numVfs, 10),
            vfs: await readVfs(directory, vfIdsOf(names), ids.vendor),
          },
        }),
    };
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

  // The VFs of a PF have the vendor of the PF, and all have the same device id (pci_iov_add_virtfn, 6.12).
  async function readFirstDeviceId(directory: string, vfIds: readonly number[]): Promise<string | undefined> {
    for (const vfId of vfIds) {
      const text = await readAttribute(join(directory, `virtfn${vfId}`, "device"));
      if (text !== undefined) return digitsOf(text);
    }
    return undefined;
  }

  // sysfs gives each file an inode number that it does not use again as long as the kernel runs (kernfs_new_node, 6.12).
  async function readBinding(device: PciAddress): Promise<PciBinding | undefined> {
    const directory = join(devices, device);
    const created = await readInode(directory);
    if (created === undefined) return undefined;
    const driver = await readLinkName(join(directory, "driver"));
    const bound = await readInode(join(directory, "driver"), { isLink: true });
    return { ...defined({ driver }), incarnation: `${created}.${bound ?? "unbound"}` };
  }

  async function write(operation: HostOperation, path: string, text: string): Promise<void> {
    try {
      // Other flags give EACCES (6.18): "w" for a missing file, because sysfs allows no creation; "r+" for `unbind`, mode 0200.
      await fs.writeFile(path, text, { flag: constants.O_WRONLY });
    } catch (cause) {
      throw toHostError(operation, cause);
    }
  }

  function attribute(device: PciAddress, name: string): string {
    return join(devices, device, name);
  }

  const { sriov: operation } = operations;
  return {
    listPfs: (except = []) =>
      listPfs(except).catch((cause: unknown) => {
        throw toHostError(operation.listPfs(), cause);
      }),
    readPf: (pf) =>
      readPf(pf).catch((cause: unknown) => {
        throw toHostError(operation.readPf(pf), cause);
      }),
    setNumVfs: (pf, count) => write(operation.setNumVfs(pf, count), attribute(pf, "sriov_numvfs"), `${count}`),
    readBinding: (device) =>
      readBinding(device).catch((cause: unknown) => {
        throw toHostError(operation.readBinding(device), cause);
      }),
    async setDriverOverride(device, driver) {
      if (driver !== undefined) checkKernelName(driver);
      // A newline clears the override. A write of zero bytes would not reach the kernel.
      await write(operation.setDriverOverride(device, driver), attribute(device, "driver_override"), driver ?? "\n");
    },
    async bindDriver(device, driver) {
      checkKernelName(driver);
      await write(operation.bindDriver(device, driver), join(root, "sys/bus/pci/drivers", driver, "bind"), device);
    },
    unbindDriver: (device) => write(operation.unbindDriver(device), attribute(device, "driver/unbind"), device),
    probeDrivers: (device) => write(operation.probeDrivers(device), join(root, "sys/bus/pci/drivers_probe"), device),
  };
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

/** "8086" of "0x8086". */
function digitsOf(attribute: string): string {
  return attribute.replace(/^0x/, "");
}
