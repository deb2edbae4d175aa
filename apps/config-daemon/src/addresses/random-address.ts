// SPDX-License-Identifier: Apache-2.0
/**
 * randomAddress draws an address that the administrator of a network may assign: the first byte has the bit "locally
 * administered" and not the bit "group". MAC addresses and GUIDs have these bits in the same place (IEEE 802).
 * Usage: `parseMacAddress(randomAddress(6, randomBytes))`.
 */

/** Returns random bytes, as `randomBytes` of node:crypto. */
export type RandomBytes = (size: number) => Buffer;

/** Returns `size` bytes in lower-case hexadecimal, separated by colons. All but two of the bits are random. */
export function randomAddress(size: number, random: RandomBytes): string {
  const bytes = Buffer.from(random(size));
  bytes[0] = ((bytes[0] ?? 0) & 0xfc) | 0x02;
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(":");
}
