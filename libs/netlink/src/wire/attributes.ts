// SPDX-License-Identifier: Apache-2.0
/**
 * Netlink attributes (struct nlattr): u16 length with the header's four bytes, u16 type, value, padding to four bytes.
 * Byte order is the host's, little endian on all that we support.
 * Usage: `parseAttributes(nested(22, [u32(1, 7)]))` is `[{ type: 22, value: ... }]`.
 */
import { malformed } from "../netlink-error.ts";

/** One attribute as received; `value` shares the message's memory. */
export interface Attribute {
  /** Without the NLA_F_ flags. */
  readonly type: number;
  readonly value: Buffer;
}

const headerBytes = 4;
const nestedFlag = 0x8000;
const typeMask = 0x3fff; // above are NLA_F_NESTED and NLA_F_NET_BYTEORDER

/** All attributes of a message's tail or of a nest. Throws NetlinkError "malformed". */
export function parseAttributes(bytes: Buffer): readonly Attribute[] {
  const attributes: Attribute[] = [];
  // Fewer than four bytes at the end are padding, as in the kernel's nla_ok().
  for (let at = 0; bytes.length - at >= headerBytes;) {
    const length = bytes.readUInt16LE(at);
    if (length < headerBytes || length > bytes.length - at) {
      throw malformed(`attribute of ${length} bytes where ${bytes.length - at} are left`);
    }
    const type = bytes.readUInt16LE(at + 2) & typeMask;
    attributes.push({ type, value: bytes.subarray(at + headerBytes, at + length) });
    at += aligned(length);
  }
  return attributes;
}

/** The value of the first attribute of the type. */
export function find(attributes: readonly Attribute[], type: number): Buffer | undefined {
  return attributes.find((attribute) => attribute.type === type)?.value;
}

/** The attributes of the first nest of the type; none where there is no such nest. */
export function findNested(attributes: readonly Attribute[], type: number): readonly Attribute[] {
  const nest = find(attributes, type);
  return nest === undefined ? [] : parseAttributes(nest);
}

/** A value of two bytes. Longer ones are read too: the kernel may append to a struct. */
export function readU16(value: Buffer, offset = 0): number {
  requireBytes(value, offset + 2);
  return value.readUInt16LE(offset);
}

export function readU32(value: Buffer, offset = 0): number {
  requireBytes(value, offset + 4);
  return value.readUInt32LE(offset);
}

/** Text up to the first NUL, or to the end: not all of the kernel's strings end in one. */
export function readText(value: Buffer): string {
  const end = value.indexOf(0);
  return value.toString("utf8", 0, end === -1 ? value.length : end);
}

/** An attribute to send. */
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

/** Text with a NUL at its end. */
export function text(type: number, value: string): Buffer {
  return bytes(type, Buffer.from(`${value}\0`));
}

export function nested(type: number, attributes: readonly Buffer[]): Buffer {
  return bytes(type | nestedFlag, Buffer.concat(attributes));
}

/** Rounded up to the four bytes on which messages and attributes begin. */
export function aligned(length: number): number {
  return (length + 3) & ~3;
}

function requireBytes(value: Buffer, needed: number): void {
  if (value.length < needed) throw malformed(`value of ${value.length} bytes where ${needed} are needed`);
}
