// SPDX-License-Identifier: Apache-2.0
/**
 * Encodes and decodes the values of D-Bus messages (D-Bus specification, "Marshaling"). Integers are numbers; those of 64 bits
 * are bigints. Structures and arrays are arrays, dictionaries are maps. Decoding unwraps variants.
 */

/** A variant that is encoded. */
export interface Variant {
  readonly signature: string;
  readonly value: DBusValue;
}

/** A value that can be encoded. */
export type DBusValue = string | number | boolean | readonly DBusValue[] | Variant;

/** Encodes the values in little-endian byte order. Throws Error for a value that does not fit its type, which is a bug. */
export function encodeValues(signature: string, values: readonly DBusValue[]): Buffer {
  const types = splitSignature(signature);
  if (types.length !== values.length) throw new Error(`"${signature}" does not describe ${values.length} values`);
  const writer = new Writer();
  for (const [index, type] of types.entries()) encode(writer, type, values[index] ?? "");
  return writer.toBuffer();
}

/** Decodes the values of a message. `body` starts at a multiple of 8 of the message. Throws Error if it is malformed. */
export function decodeValues(
  signature: string,
  body: Buffer,
  { bigEndian }: { readonly bigEndian: boolean },
): readonly unknown[] {
  const reader = new Reader(body, bigEndian);
  return splitSignature(signature).map((type) => decode(reader, type));
}

function encode(writer: Writer, type: string, value: DBusValue): void {
  writer.align(alignmentOf(type));
  switch (type.charAt(0)) {
    case "y":
      writer.byte(numberOf(type, value));
      return;
    case "b":
      writer.uint32(value === true ? 1 : 0);
      return;
    case "u":
      writer.uint32(numberOf(type, value));
      return;
    case "s":
    case "o":
      writer.uint32(Buffer.byteLength(textOf(type, value)));
      writer.text(textOf(type, value));
      return;
    case "g":
      writer.byte(Buffer.byteLength(textOf(type, value)));
      writer.text(textOf(type, value));
      return;
    case "v": {
      if (!isVariant(value)) throw new Error("not a variant");
      encode(writer, "g", value.signature);
      encode(writer, value.signature, value.value);
      return;
    }
    case "a": {
      const member = type.slice(1);
      writer.array(alignmentOf(member), () => {
        for (const each of listOf(type, value)) encode(writer, member, each);
      });
      return;
    }
    case "(": {
      const members = splitSignature(type.slice(1, -1));
      for (const [index, each] of listOf(type, value).entries()) encode(writer, members[index] ?? "", each);
      return;
    }
    default:
      throw new Error(`type "${type}" cannot be encoded`);
  }
}

function numberOf(type: string, value: DBusValue): number {
  if (typeof value !== "number") throw new Error(`value of type "${type}" is not a number`);
  return value;
}

function textOf(type: string, value: DBusValue): string {
  if (typeof value !== "string" || value.includes("\0")) throw new Error(`value of type "${type}" is not a text`);
  return value;
}

function listOf(type: string, value: DBusValue): readonly DBusValue[] {
  if (!Array.isArray(value)) throw new Error(`value of type "${type}" is not a list`);
  return value as readonly DBusValue[];
}

function isVariant(value: DBusValue): value is Variant {
  return typeof value === "object" && "signature" in value;
}

function decode(reader: Reader, type: string): unknown {
  reader.align(alignmentOf(type));
  switch (type.charAt(0)) {
    case "y":
      return reader.take(1).readUInt8();
    case "b":
      return reader.uint32() !== 0;
    case "n":
      return reader.bigEndian ? reader.take(2).readInt16BE() : reader.take(2).readInt16LE();
    case "q":
      return reader.bigEndian ? reader.take(2).readUInt16BE() : reader.take(2).readUInt16LE();
    case "i":
      return reader.bigEndian ? reader.take(4).readInt32BE() : reader.take(4).readInt32LE();
    case "u":
    case "h":
      return reader.uint32();
    case "x":
      return reader.bigEndian ? reader.take(8).readBigInt64BE() : reader.take(8).readBigInt64LE();
    case "t":
      return reader.bigEndian ? reader.take(8).readBigUInt64BE() : reader.take(8).readBigUInt64LE();
    case "d":
      return reader.bigEndian ? reader.take(8).readDoubleBE() : reader.take(8).readDoubleLE();
    case "s":
    case "o":
      return reader.text(reader.uint32());
    case "g":
      return reader.text(reader.take(1).readUInt8());
    case "v": {
      const signature = reader.text(reader.take(1).readUInt8());
      const [inner] = splitSignature(signature);
      if (inner?.length !== signature.length) throw new Error(`variant of type "${signature}"`);
      return decode(reader, inner);
    }
    case "a":
      return decodeArray(reader, type.slice(1));
    default:
      return splitSignature(type.slice(1, -1)).map((member) => decode(reader, member));
  }
}

function decodeArray(reader: Reader, member: string): unknown {
  const length = reader.uint32();
  reader.align(alignmentOf(member));
  const end = reader.at + length;
  if (!member.startsWith("{")) {
    const list: unknown[] = [];
    while (reader.at < end) list.push(decode(reader, member));
    return list;
  }
  const [key = "", value = ""] = splitSignature(member.slice(1, -1));
  const map = new Map<unknown, unknown>();
  while (reader.at < end) {
    reader.align(8);
    map.set(decode(reader, key), decode(reader, value));
  }
  return map;
}

class Writer {
  readonly #parts: Buffer[] = [];
  #length = 0;

  align(to: number): void {
    this.#add(Buffer.alloc((to - (this.#length % to)) % to));
  }

  byte(value: number): void {
    this.#add(Buffer.from([value]));
  }

  uint32(value: number): void {
    const part = Buffer.alloc(4);
    part.writeUInt32LE(value);
    this.#add(part);
  }

  /** The terminating NUL is not part of a length. */
  text(text: string): void {
    this.#add(Buffer.from(`${text}\0`));
  }

  /** The length of an array does not include the padding before its first element. */
  array(alignment: number, encodeElements: () => void): void {
    const length = Buffer.alloc(4);
    this.#add(length);
    this.align(alignment);
    const start = this.#length;
    encodeElements();
    length.writeUInt32LE(this.#length - start);
  }

  toBuffer(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #add(part: Buffer): void {
    this.#parts.push(part);
    this.#length += part.length;
  }
}

class Reader {
  readonly bigEndian: boolean;
  readonly #buffer: Buffer;
  #at = 0;

  constructor(buffer: Buffer, bigEndian: boolean) {
    this.#buffer = buffer;
    this.bigEndian = bigEndian;
  }

  get at(): number {
    return this.#at;
  }

  align(to: number): void {
    this.take((to - (this.#at % to)) % to);
  }

  take(count: number): Buffer {
    if (count > this.#buffer.length - this.#at) throw new Error(`message ends after ${this.#buffer.length} bytes`);
    this.#at += count;
    return this.#buffer.subarray(this.#at - count, this.#at);
  }

  uint32(): number {
    return this.bigEndian ? this.take(4).readUInt32BE() : this.take(4).readUInt32LE();
  }

  text(length: number): string {
    const text = this.take(length).toString("utf8");
    this.take(1); // NUL
    return text;
  }
}

/**
 * Splits and checks D-Bus type signatures (D-Bus specification, "Type System").
 * Throws Error if the text is not a sequence of complete types.
 */
export function splitSignature(signature: string): readonly string[] {
  const types: string[] = [];
  for (let at = 0; at < signature.length; at += types.at(-1)?.length ?? 1) types.push(firstType(signature, at, 0));
  return types;
}

/** The specification allows 32 nested arrays and 32 nested structures. */
const maxDepth = 64;

/** Returns the complete type that starts at `at`. */
function firstType(signature: string, at: number, depth: number): string {
  const code = signature.charAt(at);
  if (depth > maxDepth) throw new Error(`signature "${signature}" is nested too deeply`);
  if (code !== "" && "ybnqiuxtdsogvh".includes(code)) return code;
  if (code === "a") return `a${firstType(signature, at + 1, depth + 1)}`;
  const close = code === "(" ? ")" : code === "{" ? "}" : undefined;
  if (close === undefined) throw new Error(`signature "${signature}" has no complete type at ${at}`);
  let end = at + 1;
  while (signature.charAt(end) !== close) end += firstType(signature, end, depth + 1).length;
  if (end === at + 1) throw new Error(`signature "${signature}" has an empty structure`);
  return signature.slice(at, end + 1);
}

/** Returns the alignment in bytes of a type: 8 for structures. */
function alignmentOf(type: string): number {
  const code = type.charAt(0);
  if ("ygv".includes(code)) return 1;
  if ("nq".includes(code)) return 2;
  return "xtd({".includes(code) ? 8 : 4;
}
