// SPDX-License-Identifier: Apache-2.0
/**
 * A device key identifies an AF_XDP device of a node also while its name is not known because it is in a pod: "0000:86:00.0",
 * "0000:86:00.0/sf/4" for a subfunction, "veth0" for a device that is not on the PCI bus.
 * Usage: `subfunctionKey(deviceKey(nic), 4)`.
 */

/** Returns the key of a device in the spec or status of a node state. */
export function deviceKey({ pciAddress, name = "" }: { readonly pciAddress?: string; readonly name?: string }): string {
  return pciAddress ?? name;
}

/** Returns the key of a subfunction, or with "" the start of the keys of all subfunctions of the device. */
export function subfunctionKey(device: string, sfNumber: number | ""): string {
  return `${device}/sf/${sfNumber}`;
}
