// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { NetlinkError } from "../netlink-error.ts";
import {
  bytes,
  findNested,
  nested,
  parseAttributes,
  readText,
  readU16,
  readU32,
  text,
  u16,
  u32,
} from "./attributes.ts";

const types = fc.integer({ min: 0, max: 0x3fff });
const values = fc.uint8Array({ maxLength: 300 }).map((value) => Buffer.from(value));

describe("parseAttributes", () => {
  it("parses attributes in their order", () => {
    const list = fc.array(fc.record({ type: types, value: values }));
    fc.assert(
      fc.property(list, (attributes) => {
        const encoded = Buffer.concat(attributes.map(({ type, value }) => bytes(type, value)));
        expect(encoded.length % 4).toBe(0);
        expect(parseAttributes(encoded)).toEqual(attributes);
      }),
    );
  });

  it("parses only the wanted types", () => {
    const encoded = Buffer.concat([u32(1, 7), u32(2, 8), u32(3, 9), u32(2, 10)]);
    const read = parseAttributes(encoded, new Set([2, 3]));
    expect(read.map(({ type, value }) => [type, readU32(value)])).toEqual([
      [2, 8],
      [3, 9],
      [2, 10],
    ]);
  });

  it("parses nested attributes and numbers", () => {
    const number = fc.record({ type: types, value: fc.integer({ min: 0, max: 0xffff_ffff }) });
    fc.assert(
      fc.property(types, fc.array(number), (type, numbers) => {
        const encoded = nested(
          type,
          numbers.map((each) => u32(each.type, each.value)),
        );
        const read = findNested(parseAttributes(encoded), type);
        expect(read.map((each) => ({ type: each.type, value: readU32(each.value) }))).toEqual(numbers);
      }),
    );
  });

  it("parses any bytes or throws NetlinkError malformed", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (garbage) => {
        const read = attempt(() => parseAttributes(Buffer.from(garbage)));
        const total = read.reduce((sum, { value }) => sum + value.length, 0);
        expect(total).toBeLessThanOrEqual(garbage.length);
      }),
    );
  });

  it.each([
    { does: "a length below that of the header", hex: "03000100" },
    { does: "a length beyond the end", hex: "0c00010000000000" },
  ])("throws for $does", ({ hex }) => {
    expect(() => parseAttributes(Buffer.from(hex, "hex"))).toThrow(expect.objectContaining({ code: "malformed" }));
  });
});

describe("values", () => {
  it("end a text at the first NUL or at the end", () => {
    const [withNul] = parseAttributes(text(1, "devlink"));
    expect(withNul?.value.length).toBe(8);
    expect(withNul && readText(withNul.value)).toBe("devlink");
    expect(readText(Buffer.from("p0"))).toBe("p0");
  });

  it("throw on reads past the end", () => {
    expect(() => readU16(Buffer.of(1))).toThrow(expect.objectContaining({ code: "malformed" }));
    expect(() => readU32(Buffer.alloc(8), 5)).toThrow(expect.objectContaining({ code: "malformed" }));
  });

  it("throw if the length does not fit into 16 bits", () => {
    expect(() => bytes(1, Buffer.alloc(0x10000))).toThrow(RangeError);
  });

  it("are padded to four bytes", () => {
    expect(u16(25, 1).toString("hex")).toBe("0600190001000000");
  });
});

function attempt<Item>(read: () => readonly Item[]): readonly Item[] {
  try {
    return read();
  } catch (error) {
    expect(error).toBeInstanceOf(NetlinkError);
    return [];
  }
}
