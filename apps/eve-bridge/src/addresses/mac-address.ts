// SPDX-License-Identifier: Apache-2.0
/**
 * Parses and formats hardware addresses: text in CNI, base64 of the raw bytes in zedrouter's RPC (eve-and-afxdp.md
 * a2, a5).
 */

declare const parsed: unique symbol;

/** A hardware address of 6, 8 or 20 bytes. Only this file can create one. */
export type MacAddress = Buffer & { readonly [parsed]: true };

/**
 * Groups of one byte with ":" or "-", groups of two bytes with ".", or bare digits. Go's net.ParseMAC accepts the
 * groups.
 */
const forms = [/^[0-9a-f]{2}(:[0-9a-f]{2})*$/i, /^[0-9a-f]{2}(-[0-9a-f]{2})*$/i, /^[0-9a-f]{4}(\.[0-9a-f]{4})*$/i];
const bare = /^(?:[0-9a-f]{2})+$/i;

/** Parses a hardware address of 6, 8 or 20 bytes; undefined if `text` is not one. */
export function parseMac(text: string): MacAddress | undefined {
  if (!forms.some((form) => form.test(text)) && !bare.test(text)) return undefined;
  return fromBytes(Buffer.from(text.replace(/[:.-]/g, ""), "hex"));
}

/** Parses Go's JSON form of a net.HardwareAddr; undefined if `text` is not the base64 of a hardware address. */
export function parseBase64Mac(text: string): MacAddress | undefined {
  const bytes = Buffer.from(text, "base64");
  // Node ignores characters that are not base64, so encode again and compare.
  return bytes.toString("base64") === text ? fromBytes(bytes) : undefined;
}

/** The address in lower case with colons. */
export function formatMac(mac: MacAddress): string {
  return [...mac].map((byte) => byte.toString(16).padStart(2, "0")).join(":");
}

function fromBytes(bytes: Buffer): MacAddress | undefined {
  return hasMacLength(bytes) ? bytes : undefined;
}

function hasMacLength(bytes: Buffer): bytes is MacAddress {
  return [6, 8, 20].includes(bytes.length);
}
