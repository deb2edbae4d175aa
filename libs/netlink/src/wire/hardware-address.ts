// SPDX-License-Identifier: Apache-2.0
/**
 * formatHardwareAddress and parseHardwareAddress convert hardware addresses to and from text.
 * Usage: `formatHardwareAddress(Buffer.of(2, 0, 0, 0, 0, 1))`, which is "02:00:00:00:00:01".
 */

/** Returns lower-case hexadecimal bytes with colons; "" for no bytes. */
export function formatHardwareAddress(address: Buffer): string {
  return address.toString("hex").replace(/..(?!$)/g, "$&:");
}

/** Parses a text of formatHardwareAddress. Throws RangeError for other texts: callers validate the input of users. */
export function parseHardwareAddress(text: string): Buffer {
  const address = Buffer.from(text.replaceAll(":", ""), "hex");
  if (formatHardwareAddress(address) !== text) throw new RangeError(`invalid hardware address "${text}"`);
  return address;
}
