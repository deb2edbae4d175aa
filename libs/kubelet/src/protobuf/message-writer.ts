// SPDX-License-Identifier: Apache-2.0
/**
 * MessageWriter encodes a protobuf message (protobuf.dev/programming-guides/encoding). Fields with the default value of their type
 * are left out, as proto3 does.
 * Usage: `new MessageWriter().text(1, "v1beta1").boolean(2, true).finish()`.
 */
import { wireTypes } from "./wire-types.ts";

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
    return value === "" ? this : this.bytes(field, Buffer.from(value));
  }

  texts(field: number, values: readonly string[]): this {
    for (const value of values) this.bytes(field, Buffer.from(value));
    return this;
  }

  /** A message in the message, even if it is empty. */
  message(field: number, value: MessageWriter): this {
    return this.bytes(field, value.finish());
  }

  messages(field: number, values: readonly MessageWriter[]): this {
    for (const value of values) this.message(field, value);
    return this;
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }

  private bytes(field: number, value: Buffer): this {
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
