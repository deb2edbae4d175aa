// SPDX-License-Identifier: Apache-2.0
/**
 * Between the interface of a virtio NIC and its PCI function is a virtio device, "virtio4", which rtnetlink names instead of the
 * function. functionOfVirtio finds the function.
 * Usage: `const parent = functionOfVirtio("/host", "virtio4") ?? { bus: "virtio", name: "virtio4" }`.
 */
import { parsePciAddress, type PciAddress } from "@switchyard/api";
import { basename, dirname, join } from "node:path";
import { readLinkName, readRealPath } from "./read-sysfs.ts";

/** The driver that creates the virtio device of a PCI function. A virtio device of another driver belongs to a vDPA device. */
export const virtioPciDriver = "virtio-pci";

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

export function isVirtioDevice(name: string): boolean {
  return /^virtio\d+$/.test(name);
}
