// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxSriovSysfs implements SriovSysfs over /sys/bus/pci.
 * Usage: `await createLinuxSriovSysfs("/host").listPfs()`.
 */
import type { PciAddress } from "@switchyard/api";
import { constants, promises as fs } from "node:fs";
import { join } from "node:path";
import { withHostError, type HostOperation } from "../../calls/host-error.ts";
import { operations } from "../../calls/operations.ts";
import type { SriovSysfs } from "../../ports/sriov-sysfs.ts";
import { checkKernelName } from "../system/kernel-names.ts";
import { readBinding, readPf, readPfs } from "../system/read-pci-functions.ts";

/** `root` is "/", "/host" or the directory of a captured tree. */
export function createLinuxSriovSysfs(root: string): SriovSysfs {
  const bus = join(root, "sys/bus/pci");
  const devices = join(bus, "devices");
  const { sriov: operation } = operations;
  const fileOf = (device: PciAddress, name: string) => join(devices, device, name);

  return {
    listPfs: (except = []) => withHostError(operation.listPfs(), () => readPfs(devices, except)),
    readPf: (pf) => withHostError(operation.readPf(pf), () => readPf(devices, pf)),
    readBinding: (device) => withHostError(operation.readBinding(device), () => readBinding(devices, device)),
    setNumVfs: (pf, count) => write(operation.setNumVfs(pf, count), fileOf(pf, "sriov_numvfs"), `${count}`),
    async setDriverOverride(device, driver) {
      if (driver !== undefined) checkKernelName(driver);
      // A newline clears the override. A write of zero bytes would not reach the kernel.
      await write(operation.setDriverOverride(device, driver), fileOf(device, "driver_override"), driver ?? "\n");
    },
    async bindDriver(device, driver) {
      checkKernelName(driver);
      await write(operation.bindDriver(device, driver), join(bus, "drivers", driver, "bind"), device);
    },
    unbindDriver: (device) => write(operation.unbindDriver(device), fileOf(device, "driver/unbind"), device),
    probeDrivers: (device) => write(operation.probeDrivers(device), join(bus, "drivers_probe"), device),
  };
}

function write(operation: HostOperation, path: string, text: string): Promise<void> {
  // Other flags give EACCES (6.18): "w" for a missing file, because sysfs allows no creation; "r+" for `unbind`, mode 0200.
  return withHostError(operation, () => fs.writeFile(path, text, { flag: constants.O_WRONLY }));
}
