// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxVdpa implements Vdpa over generic netlink, and over /sys/bus/vdpa for drivers. The kernel tries to load a module
 * whenever an unknown netlink family is looked up, so nothing is looked up before the bus exists.
 */
import { defined } from "@switchyard/api";
import {
  addVdpaDevice,
  deleteVdpaDevice,
  listVdpaDevices,
  listVdpaManagementDevices,
  resolveFamily,
  vdpaFamily,
  type GenericFamily,
  type NetlinkSocket,
} from "@switchyard/netlink";
import { constants, promises as fs } from "node:fs";
import { join } from "node:path";
import { HostError, withHostError, type HostOperation } from "../../calls/host-error.ts";
import { operations } from "../../calls/operations.ts";
import type { Vdpa } from "../../ports/devices.ts";
import { askKernel } from "../system/ask-kernel.ts";
import { checkKernelName, checkVdpaName } from "../system/kernel-names.ts";
import { exists, readLinkName } from "../system/read-sysfs.ts";

export interface LinuxVdpaDeps {
  /** "/" or "/host". */
  readonly root: string;
  /** A socket of protocols.generic. The caller disposes of it. */
  readonly socket: NetlinkSocket;
}

export function createLinuxVdpa({ root, socket }: LinuxVdpaDeps): Vdpa {
  const { vdpa: operation } = operations;
  const bus = join(root, "sys/bus/vdpa");
  const fileOf = (name: string, file: string) => join(bus, "devices", name, file);

  /** The id of the family changes when the module is loaded again, so it is not kept. */
  async function family(): Promise<GenericFamily | undefined> {
    return exists(bus) ? resolveFamily(socket, vdpaFamily) : undefined;
  }

  async function familyFor(at: HostOperation): Promise<GenericFamily> {
    const found = await family();
    if (found === undefined) throw new HostError(at, "ENODEV", { words: "vDPA is not loaded" });
    return found;
  }

  return {
    listManagementDevices: () =>
      askKernel(operation.listManagementDevices(), async () => {
        const found = await family();
        const devices = found === undefined ? [] : await listVdpaManagementDevices(found);
        return devices.map(({ maxVirtqueues, ...handle }) => ({ ...handle, ...defined({ maxVirtqueues }) }));
      }),
    listDevices: () =>
      withHostError(operation.listDevices(), () =>
        askKernel(operation.listDevices(), async () => {
          const found = await family();
          const devices = found === undefined ? [] : await listVdpaDevices(found);
          return devices.map(({ name, management }) => {
            const driver = isFileName(name) ? readLinkName(fileOf(name, "driver")) : undefined;
            return { name, management, ...defined({ driver }) };
          });
        }),
      ),
    async addDevice(device) {
      checkVdpaName(device.name);
      const at = operation.addDevice(device);
      await askKernel(at, async () => {
        await addVdpaDevice(await familyFor(at), device);
      });
    },
    async removeDevice(name) {
      checkVdpaName(name);
      const at = operation.removeDevice(name);
      await askKernel(at, async () => {
        await deleteVdpaDevice(await familyFor(at), name);
      });
    },
    async setDriverOverride(name, driver) {
      checkVdpaName(name);
      if (driver !== undefined) checkKernelName(driver);
      // A newline clears the override. A write of zero bytes would not reach the kernel.
      await write(operation.setDriverOverride(name, driver), fileOf(name, "driver_override"), driver ?? "\n");
    },
    async bindDriver(name, driver) {
      checkVdpaName(name);
      checkKernelName(driver);
      await write(operation.bindDriver(name, driver), join(bus, "drivers", driver, "bind"), name);
    },
    async unbindDriver(name) {
      checkVdpaName(name);
      await write(operation.unbindDriver(name), fileOf(name, "driver/unbind"), name);
    },
  };
}

/** Names come from programs that created devices, and from the kernel. */
function isFileName(name: string): boolean {
  return !name.includes("/") && name !== "." && name !== "..";
}

function write(operation: HostOperation, path: string, text: string): Promise<void> {
  // O_WRONLY alone: other flags give EACCES for a missing file, because sysfs allows no creation.
  return withHostError(operation, () => fs.writeFile(path, text, { flag: constants.O_WRONLY }));
}
