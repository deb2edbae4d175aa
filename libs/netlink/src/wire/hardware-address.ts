// SPDX-License-Identifier: Apache-2.0
/**
 * Hardware addresses as text. Usage: `formatHardwareAddress(Buffer.of(2, 0, 0, 0, 0, 1))` is "02:00:00:00:00:01".
 */

/** Lower-case bytes with colons; "" for no bytes. */
export function formatHardwareAddress(address: Buffer): string {
  return Array.from(address, (byte) => byte.toString(16).padStart(2, "0")).join(":");
}

/** The bytes of a text that formatHardwareAddress gives. Throws RangeError for any other: the caller parsed the user's. */
export function parseHardwareAddress(text: string): Buffer {
  const address = Buffer.from(text.replaceAll(":", ""), "hex");
  if (formatHardwareAddress(address) !== text) throw new RangeError(`no hardware address: ${text}`);
  return address;
}
