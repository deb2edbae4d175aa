// SPDX-License-Identifier: Apache-2.0

/** How a field of a protobuf message is encoded. */
const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** A message that is no protobuf message, or not of the expected type. */
class ProtobufError extends Error {
  override readonly name = "ProtobufError";
  readonly code = "MALFORMED_MESSAGE";

  constructor(problem: string) {
    super(`malformed protobuf message: ${problem}`);
  }
}

/** The fields of a message, by their numbers. All functions throw ProtobufError if a field has another type. */
export interface MessageReader {
  /** Returns the last value; 0 if absent. A negative or very large number is not exact. */
  readonly number: (field: number) => number;
  /** Returns the last value; "" if absent. */
  readonly text: (field: number) => string;
  readonly texts: (field: number) => readonly string[];
  /** Returns the last value; empty if absent. */
  readonly bytes: (field: number) => Buffer;
  readonly messages: (field: number) => readonly MessageReader[];
}

/** Messages in messages that are deeper than this are refused. Those of the kubelet have four levels. */
const maxDepth = 16;

/**
 * readMessage decodes a protobuf message. Fields that the caller does not ask for are ignored, so that messages of newer programs
 * can be read. Throws ProtobufError if the bytes are not a message.
 */
export function readMessage(bytes: Buffer, depth = 0): MessageReader {
  if (depth > maxDepth) throw new ProtobufError("too many levels of messages");
  const fields = readFields(bytes);

  function values(field: number): readonly Buffer[] {
    return (fields.get(field) ?? []).map((value) => {
      if (typeof value === "number") throw new ProtobufError(`field ${field} is a number`);
      return value;
    });
  }

  return {
    number(field) {
      const value = fields.get(field)?.at(-1) ?? 0;
      if (typeof value !== "number") throw new ProtobufError(`field ${field} is not a number`);
      return value;
    },
    text: (field) => values(field).at(-1)?.toString("utf8") ?? "",
    texts: (field) => values(field).map((value) => value.toString("utf8")),
    bytes: (field) => values(field).at(-1) ?? Buffer.alloc(0),
    messages: (field) => values(field).map((value) => readMessage(value, depth + 1)),
  };
}

function readFields(bytes: Buffer): ReadonlyMap<number, readonly (number | Buffer)[]> {
  const fields = new Map<number, (number | Buffer)[]>();
  let at = 0;

  function varint(): number {
    let value = 0;
    for (let count = 0; count < 10; count++) {
      const byte = bytes[at++];
      if (byte === undefined) throw new ProtobufError("the message ends within a number");
      value += (byte % 128) * 128 ** count;
      if (byte < 128) return value;
    }
    throw new ProtobufError("a number has more than 10 bytes");
  }

  function take(length: number): Buffer {
    if (length > bytes.length - at) throw new ProtobufError("the message ends within a field");
    at += length;
    return bytes.subarray(at - length, at);
  }

  function value(wireType: number): number | Buffer {
    switch (wireType) {
      case wireTypes.varint:
        return varint();
      case wireTypes.fixed64:
        return take(8);
      case wireTypes.bytes:
        return take(varint());
      case wireTypes.fixed32:
        return take(4);
      default:
        throw new ProtobufError(`unknown wire type ${wireType}`);
    }
  }

  while (at < bytes.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    if (field === 0) throw new ProtobufError("field 0 does not exist");
    const read = value(tag % 8);
    const known = fields.get(field);
    if (known === undefined) fields.set(field, [read]);
    else known.push(read); // a copy for each value would take quadratic time
  }
  return fields;
}

/**
 * MessageWriter encodes a protobuf message (protobuf.dev/programming-guides/encoding). Fields with the default value of their type
 * are left out, as proto3 does.
 */
export class MessageWriter {
  readonly #parts: Buffer[] = [];

  /** A number that is not negative. */
  number(field: number, value: number): this {
    if (value !== 0) this.#parts.push(tag(field, wireTypes.varint), encodeVarint(value));
    return this;
  }

  boolean(field: number, value: boolean): this {
    return this.number(field, value ? 1 : 0);
  }

  text(field: number, value: string): this {
    return this.bytes(field, Buffer.from(value));
  }

  bytes(field: number, value: Buffer): this {
    return value.length === 0 ? this : this.#value(field, value);
  }

  texts(field: number, values: readonly string[]): this {
    for (const value of values) this.#value(field, Buffer.from(value));
    return this;
  }

  /** A message in the message, even if it is empty. */
  message(field: number, value: MessageWriter): this {
    return this.#value(field, value.finish());
  }

  messages(field: number, values: readonly MessageWriter[]): this {
    for (const value of values) this.message(field, value);
    return this;
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #value(field: number, value: Buffer): this {
    this.#parts.push(tag(field, wireTypes.bytes), encodeVarint(value.length), value);
    return this;
  }
}

function tag(field: number, wireType: number): Buffer {
  return encodeVarint(field * 8 + wireType);
}

function encodeVarint(value: number): Buffer {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`cannot encode ${value}`);
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}
