// SPDX-License-Identifier: Apache-2.0
/**
 * The few kinds of DER values that an X.509 certificate is made of (ITU-T X.690). Node reads certificates but makes none.
 * Usage: `sequence(oid("2.5.4.3"), utf8("admin"))`
 */

/** SEQUENCE of values in their encoded form. */
export function sequence(...values: readonly Uint8Array[]): Buffer {
  return tagged(0x30, ...values);
}

/** SET of one value; more would need sorting (X.690 11.6). */
export function setOf(value: Uint8Array): Buffer {
  return tagged(0x31, value);
}

/** INTEGER of a non-negative number given as big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first < 0 ? Buffer.of(0) : bytes.subarray(first);
  // A set top bit would mean a negative number.
  return (digits[0] ?? 0) >= 0x80 ? tagged(0x02, Buffer.of(0), digits) : tagged(0x02, digits);
}

/** BOOLEAN TRUE; FALSE is the default wherever we could write it, and DER leaves defaults out. */
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

/** UTCTime in seconds; good until 2049 (RFC 5280 4.1.2.5.1). */
export function utcTime(date: Date): Buffer {
  const [digits = ""] = date.toISOString().replaceAll(/[-:T]/g, "").split(".");
  return tagged(0x17, Buffer.from(`${digits.slice(2)}Z`));
}

/** BIT STRING of whole bytes, or with `unusedBits` at its end. */
export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return tagged(0x03, Buffer.of(unusedBits), bytes);
}

/** OCTET STRING. */
export function octetString(bytes: Uint8Array): Buffer {
  return tagged(0x04, bytes);
}

/** A value under its own context tag: explicit and constructed, `[3] { … }`. */
export function explicit(tag: number, value: Uint8Array): Buffer {
  return tagged(0xa0 + tag, value);
}

/** Bytes under a context tag that stands for the type's own: implicit and primitive, `[7]`. */
export function implicit(tag: number, bytes: Uint8Array): Buffer {
  return tagged(0x80 + tag, bytes);
}

function tagged(tag: number, ...values: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(values);
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
}

// Short form up to 127; else the count of length bytes, then the length.
function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.of(0x80 + bytes.length, ...bytes);
}

// Seven bits a byte, most significant first, the top bit on all but the last.
function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 + (rest % 128));
  return bytes;
}
