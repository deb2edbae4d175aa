// SPDX-License-Identifier: Apache-2.0

/** Drivers that pass a device to user space: upstream's list (sriov-operator.md F.4). */
const userSpaceDrivers: ReadonlySet<string> = new Set(["vfio-pci", "uio_pci_generic", "igb_uio"]);

/** Reports whether a device with this driver has no network interface, because a program in user space drives it. */
export function isUserSpaceDriver(driver: string): boolean {
  return userSpaceDrivers.has(driver);
}
