// SPDX-License-Identifier: Apache-2.0
/**
 * SriovSysfs over /sys/bus/pci. A VF costs three reads (its address, driver and interfaces): all else is its PF's.
 * Usage: `createLinuxSriovSysfs("/host")`; a captured tree will do as well.
 */
import { constants, promises as fs } from "node:fs";
import { join } from "node:path";
import { parsePciAddress, type PciAddress } from "@switchyard/api";
import { attempts } from "../calls/operations.ts";
import { toHostError, type HostError } from "../calls/host-error.ts";
import { checkKernelName } from "./kernel-name.ts";
import { mapConcurrently } from "./map-concurrently.ts";
import { exists, readAttribute, readLinkName, readNames } from "./read-sysfs.ts";
import type { PfFacts, SriovSysfs, VfFacts } from "../ports/sriov-sysfs.ts";

const functionsAtOnce = 4;
const vfsAtOnce = 4;

/** SriovSysfs over the tree at `root`: "/" or "/host". */
export function createLinuxSriovSysfs(root: string): SriovSysfs {
  const devices = join(root, "sys/bus/pci/devices");

  async function listPfs(except: readonly PciAddress[]): Promise<readonly PfFacts[]> {
    const vfs = new Set<PciAddress>();
    // A VF's address is above its PF's, so most are known as VFs when their turn comes, and cost nothing.
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
      readAttribute(join(directory, "sriov_numvfs")), // waits while somebody writes it: both take the device's lock
    ]);
    const [names, netdevs] = await Promise.all([readNames(directory), readNames(join(directory, "net"))]);
    if (vendor === undefined || deviceId === undefined || names === undefined) return undefined; // gone meanwhile
    if (names.includes("physfn")) return undefined; // a VF

    const ids = { vendor: digitsOf(vendor), deviceId: digitsOf(deviceId) };
    return {
      ...{ pciAddress, ...ids },
      ...(driver !== undefined && { driver }),
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
      // Without a driver, or gone since its address was read.
      return (await exists(vf)) ? { vfId, pciAddress, vendor, deviceId, netdevs: [] } : undefined;
    });
    return vfs.filter((vf) => vf !== undefined);
  }

  // The VFs of a PF share their vendor with it, and the device id among themselves (pci_iov_add_virtfn, 6.12).
  async function readFirstDeviceId(directory: string, vfIds: readonly number[]): Promise<string | undefined> {
    for (const vfId of vfIds) {
      const text = await readAttribute(join(directory, `virtfn${vfId}`, "device"));
      if (text !== undefined) return digitsOf(text);
    }
    return undefined;
  }

  async function write(at: HostError["at"], path: string, text: string): Promise<void> {
    try {
      // EACCES otherwise (6.18): "w" for a missing file, since sysfs lets nobody create; "r+" for `unbind`, mode 0200.
      await fs.writeFile(path, text, { flag: constants.O_WRONLY });
    } catch (cause) {
      throw toHostError(at, cause);
    }
  }

  function attribute(device: PciAddress, name: string): string {
    return join(devices, device, name);
  }

  const { sriov: attempt } = attempts;
  return {
    listPfs: (except = []) =>
      listPfs(except).catch((cause: unknown) => {
        throw toHostError(attempt.listPfs(), cause);
      }),
    readPf: (pf) =>
      readPf(pf).catch((cause: unknown) => {
        throw toHostError(attempt.readPf(pf), cause);
      }),
    setNumVfs: (pf, count) => write(attempt.setNumVfs(pf, count), attribute(pf, "sriov_numvfs"), `${count}`),
    setDriversAutoprobe: (pf, on) =>
      write(attempt.setDriversAutoprobe(pf, on), attribute(pf, "sriov_drivers_autoprobe"), on ? "1" : "0"),
    async setDriverOverride(device, driver) {
      if (driver !== undefined) checkKernelName(driver);
      // A newline clears it: nothing at all would never reach the kernel.
      await write(attempt.setDriverOverride(device, driver), attribute(device, "driver_override"), driver ?? "\n");
    },
    async bindDriver(device, driver) {
      checkKernelName(driver);
      await write(attempt.bindDriver(device, driver), join(root, "sys/bus/pci/drivers", driver, "bind"), device);
    },
    unbindDriver: (device) => write(attempt.unbindDriver(device), attribute(device, "driver/unbind"), device),
    probeDrivers: (device) => write(attempt.probeDrivers(device), join(root, "sys/bus/pci/drivers_probe"), device),
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
