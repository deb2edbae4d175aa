// SPDX-License-Identifier: Apache-2.0
/**
 * Hardware addresses: text in CNI, base64 of the raw bytes on zedrouter's wire (eve-and-afxdp.md a2, a5).
 * Usage: `formatMac(parseMac("02-16-3E-5E-6C-01"))` is "02:16:3e:5e:6c:01".
 */

declare const parsed: unique symbol;

/** The bytes of a hardware address: 6, 8 or 20 of them; only this file can make one. */
export type MacAddress = Buffer & { readonly [parsed]: true };

/** One byte a group (":" or "-"), two bytes a group ("."), or bare digits: what Go's net.ParseMAC takes. */
const forms = [/^[0-9a-f]{2}(:[0-9a-f]{2})*$/i, /^[0-9a-f]{2}(-[0-9a-f]{2})*$/i, /^[0-9a-f]{4}(\.[0-9a-f]{4})*$/i];
const bare = /^(?:[0-9a-f]{2})+$/i;

/** Reads a hardware address of 6, 8 or 20 bytes; undefined when `text` is none. */
export function parseMac(text: string): MacAddress | undefined {
  if (!forms.some((form) => form.test(text)) && !bare.test(text)) return undefined;
  return fromBytes(Buffer.from(text.replace(/[:.-]/g, ""), "hex"));
}

/** Reads Go's JSON form of a net.HardwareAddr; undefined when `text` is not the base64 of one. */
export function parseBase64Mac(text: string): MacAddress | undefined {
  const bytes = Buffer.from(text, "base64");
  // Node ignores what is no base64; the way back tells.
  return bytes.toString("base64") === text ? fromBytes(bytes) : undefined;
}

/** Lower case, with colons. */
export function formatMac(mac: MacAddress): string {
  return [...mac].map((byte) => byte.toString(16).padStart(2, "0")).join(":");
}

function fromBytes(bytes: Buffer): MacAddress | undefined {
  return hasMacLength(bytes) ? bytes : undefined;
}

function hasMacLength(bytes: Buffer): bytes is MacAddress {
  return [6, 8, 20].includes(bytes.length);
}
