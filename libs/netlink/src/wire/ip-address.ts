// SPDX-License-Identifier: Apache-2.0
/** parseIpAddress and formatIpAddress convert IP addresses between their texts and the bytes that messages have. */
import { isIPv4, isIPv6 } from "node:net";

/** Returns the 4 or 16 bytes of an address; undefined if it is none, or has a zone. */
export function parseIpAddress(address: string): Buffer | undefined {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  if (!isIPv6(address) || address.includes("%")) return undefined;
  // The last 32 bits can be written as an IPv4 address.
  const last = address.slice(address.lastIndexOf(":") + 1);
  const [a = 0, b = 0, c = 0, d = 0] = isIPv4(last) ? last.split(".").map(Number) : [];
  const tail = isIPv4(last) ? `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}` : last;
  const [left = "", right = ""] = `${address.slice(0, address.length - last.length)}${tail}`.split("::");
  const [before, after] = [left, right].map((part) => part.split(":").filter((group) => group !== ""));
  const groups = [
    ...(before ?? []),
    ...Array<string>(8 - (before ?? []).length - (after ?? []).length).fill("0"),
    ...(after ?? []),
  ];
  const encoded = Buffer.alloc(16);
  for (const [at, group] of groups.entries()) encoded.writeUInt16BE(Number.parseInt(group, 16), at * 2);
  return encoded;
}

/** Returns the text of 4 or 16 bytes; an IPv6 address is shortened as RFC 5952 says. */
export function formatIpAddress(address: Buffer): string {
  if (address.length === 4) return address.join(".");
  const groups = Array.from({ length: 8 }, (_, nth) => address.readUInt16BE(nth * 2).toString(16));
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}
