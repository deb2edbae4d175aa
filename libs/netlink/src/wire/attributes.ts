// SPDX-License-Identifier: Apache-2.0
/**
 * parseAttributes, bytes, u16, u32, text and nested read and write netlink attributes (struct nlattr): u16 length with the
 * four bytes of the header, u16 type, value, padding to four bytes. The byte order is that of the host, little endian on
 * all supported platforms.
 */
import { malformed } from "../netlink-error.ts";

/** A received attribute. `value` shares the memory of the message. */
export interface Attribute {
  /** Without the NLA_F_ flags. */
  readonly type: number;
  readonly value: Buffer;
}

const headerBytes = 4;
const nestedFlag = 0x8000;
const typeMask = 0x3fff; // above are NLA_F_NESTED and NLA_F_NET_BYTEORDER

/**
 * Parses the attributes after a header or of a nested attribute; only those of the `wanted` types, if they are given: a link message
 * has sixty. Throws NetlinkError "malformed".
 */
export function parseAttributes(bytes: Buffer, wanted?: ReadonlySet<number>): readonly Attribute[] {
  const attributes: Attribute[] = [];
  // Fewer than four bytes at the end are padding, as in the kernel's nla_ok().
  for (let at = 0; bytes.length - at >= headerBytes;) {
    const length = u16At(bytes, at);
    if (length < headerBytes || length > bytes.length - at) {
      throw malformed(`attribute of ${length} bytes, only ${bytes.length - at} bytes left`);
    }
    const type = u16At(bytes, at + 2) & typeMask;
    if (wanted?.has(type) ?? true) attributes.push({ type, value: bytes.subarray(at + headerBytes, at + length) });
    at += aligned(length);
  }
  return attributes;
}

/** For bytes that exist, so that the checks of readUInt16LE are not needed: a link message has over a hundred such numbers. */
function u16At(bytes: Buffer, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
}

/** Returns the value of the first attribute of the type. */
export function find(attributes: readonly Attribute[], type: number): Buffer | undefined {
  return attributes.find((attribute) => attribute.type === type)?.value;
}

/** Returns the attributes nested in the first attribute of the type; an empty list if there is none. */
export function findNested(attributes: readonly Attribute[], type: number): readonly Attribute[] {
  const nest = find(attributes, type);
  return nest === undefined ? [] : parseAttributes(nest);
}

/** Reads a value of two bytes. The value can be longer, since newer kernels append to structs. */
export function readU16(value: Buffer, offset = 0): number {
  requireBytes(value, offset + 2);
  return value.readUInt16LE(offset);
}

export function readU32(value: Buffer, offset = 0): number {
  requireBytes(value, offset + 4);
  return value.readUInt32LE(offset);
}

/** Reads a value of eight bytes. Values from 2^53 lose their lowest bits. */
export function readU64(value: Buffer, offset = 0): number {
  requireBytes(value, offset + 8);
  return Number(value.readBigUInt64LE(offset));
}

/** Reads a text up to the first NUL or to the end: not all strings of the kernel end with NUL. */
export function readText(value: Buffer): string {
  const end = value.indexOf(0);
  return value.toString("utf8", 0, end === -1 ? value.length : end);
}

/** Returns an attribute. Throws RangeError for a value that is too long. */
export function bytes(type: number, value: Buffer): Buffer {
  const length = headerBytes + value.length;
  if (length > 0xffff) throw new RangeError(`attribute ${type} of ${length} bytes`);
  const attribute = Buffer.alloc(aligned(length));
  attribute.writeUInt16LE(length, 0);
  attribute.writeUInt16LE(type, 2);
  value.copy(attribute, headerBytes);
  return attribute;
}

export function u16(type: number, value: number): Buffer {
  const encoded = Buffer.alloc(2);
  encoded.writeUInt16LE(value);
  return bytes(type, encoded);
}

export function u32(type: number, value: number): Buffer {
  const encoded = Buffer.alloc(4);
  encoded.writeUInt32LE(value);
  return bytes(type, encoded);
}

/** Returns an attribute with a text that ends with NUL. */
export function text(type: number, value: string): Buffer {
  return bytes(type, Buffer.from(`${value}\0`));
}

export function nested(type: number, attributes: readonly Buffer[]): Buffer {
  return bytes(type | nestedFlag, Buffer.concat(attributes));
}

/** Returns `length` rounded up to a multiple of four, at which messages and attributes start. */
export function aligned(length: number): number {
  return (length + 3) & ~3;
}

function requireBytes(value: Buffer, needed: number): void {
  if (value.length < needed) throw malformed(`value of ${value.length} bytes, expected at least ${needed}`);
}

/**
 * formatHardwareAddress and parseHardwareAddress convert hardware addresses to and from text.
 * Returns lower-case hexadecimal bytes with colons; "" for no bytes.
 */
export function formatHardwareAddress(address: Buffer): string {
  return address.toString("hex").replace(/..(?!$)/g, "$&:");
}

/** Parses a text of formatHardwareAddress. Throws RangeError for other texts: callers validate the input of users. */
export function parseHardwareAddress(text: string): Buffer {
  const address = Buffer.from(text.replaceAll(":", ""), "hex");
  if (formatHardwareAddress(address) !== text) throw new RangeError(`invalid hardware address "${text}"`);
  return address;
}
