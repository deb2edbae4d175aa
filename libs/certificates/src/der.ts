// SPDX-License-Identifier: Apache-2.0
/** These functions encode the DER values of an X.509 certificate (ITU-T X.690). Node can only read certificates. */

/** SEQUENCE of values in their encoded form. */
export function sequence(...values: readonly Uint8Array[]): Buffer {
  return tagged(0x30, ...values);
}

/** SET of one value. Several values would have to be sorted (X.690 11.6). */
export function setOf(value: Uint8Array): Buffer {
  return tagged(0x31, value);
}

/** INTEGER of a non-negative number given as big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first < 0 ? Buffer.of(0) : bytes.subarray(first);
  // If the top bit were set, the number would be negative.
  return (digits[0] ?? 0) >= 0x80 ? tagged(0x02, Buffer.of(0), digits) : tagged(0x02, digits);
}

/** BOOLEAN TRUE. FALSE is always the default here, and DER omits defaults. */
export function booleanTrue(): Buffer {
  return tagged(0x01, Buffer.of(0xff));
}

/** OBJECT IDENTIFIER of "2.5.4.3". */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

/** UTF8String. */
export function utf8(text: string): Buffer {
  return tagged(0x0c, Buffer.from(text));
}

/** UTCTime in seconds, for years up to 2049 (RFC 5280 4.1.2.5.1). */
export function utcTime(date: Date): Buffer {
  const [digits = ""] = date.toISOString().replaceAll(/[-:T]/g, "").split(".");
  return tagged(0x17, Buffer.from(`${digits.slice(2)}Z`));
}

/** BIT STRING; the last byte has `unusedBits` unused bits. */
export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return tagged(0x03, Buffer.of(unusedBits), bytes);
}

/** OCTET STRING. */
export function octetString(bytes: Uint8Array): Buffer {
  return tagged(0x04, bytes);
}

/** A value in a constructed context tag (EXPLICIT). */
export function explicit(tag: number, value: Uint8Array): Buffer {
  return tagged(0xa0 + tag, value);
}

/** Bytes with a primitive context tag instead of the tag of their type (IMPLICIT). */
export function implicit(tag: number, bytes: Uint8Array): Buffer {
  return tagged(0x80 + tag, bytes);
}

function tagged(tag: number, ...values: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(values);
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
}

// Short form up to 127; otherwise the number of length bytes, then the length.
function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.of(0x80 + bytes.length, ...bytes);
}

// Seven bits per byte, most significant first; the top bit is set in all bytes but the last.
function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 + (rest % 128));
  return bytes;
}
