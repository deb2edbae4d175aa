// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { bitString, explicit, integer, octetString, oid, sequence, utcTime, utf8 } from "./der.ts";

describe("DER", () => {
  // Expected bytes: `openssl asn1parse -genstr <TYPE>:<value> -noout -out /dev/stdout | xxd -p`, OpenSSL 3.0.
  it.each([
    { does: "keeps an integer non-negative", value: integer(Buffer.from("ff", "hex")), hex: "020200ff" },
    { does: "drops leading zeros", value: integer(Buffer.from("000001", "hex")), hex: "020101" },
    { does: "writes zero in one byte", value: integer(Buffer.of(0, 0)), hex: "020100" },
    { does: "encodes large arcs", value: oid("1.2.840.10045.4.3.2"), hex: "06082a8648ce3d040302" },
    { does: "uses the length of a text in bytes", value: utf8("ü"), hex: "0c02c3bc" },
    {
      does: "writes times in UTC",
      value: utcTime(new Date("2026-11-20T12:34:56Z")),
      hex: "170d3236313132303132333435365a",
    },
    { does: "encodes unused bits", value: bitString(Buffer.of(0x80), 7), hex: "03020780" },
    { does: "nests values", value: explicit(0, sequence(integer(Buffer.of(2)))), hex: "a0053003020102" },
  ])("$does", ({ value, hex }) => {
    expect(value.toString("hex")).toBe(hex);
  });

  it("writes lengths from 128 on in the long form", () => {
    const heads = [127, 128, 256].map((length) => octetString(Buffer.alloc(length)).subarray(0, 4).toString("hex"));
    expect(heads).toEqual(["047f0000", "04818000", "04820100"]);
  });
});
