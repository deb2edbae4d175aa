// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { encodeCall, takeMessage } from "./message.ts";
import { decodeValues, encodeValues, splitSignature } from "./wire.ts";

describe("splitSignature", () => {
  it("returns the complete types of a signature", () => {
    expect(splitSignature("sa{sv}(u(ao)b)aas")).toEqual(["s", "a{sv}", "(u(ao)b)", "aas"]);
  });

  it.each(["a", "(", "(s", "z", "a{s", ")", "a()", "a".repeat(1_000)])("refuses %s", (signature) => {
    expect(() => splitSignature(signature)).toThrow("signature");
  });
});

describe("encodeValues", () => {
  // Computed by hand from the rules of the D-Bus specification.
  it("aligns and pads as the specification requires", () => {
    expect(encodeValues("yu", [1, 2]).toString("hex")).toBe("0100000002000000");
    expect(encodeValues("s", ["foo"]).toString("hex")).toBe("03000000666f6f00");
    expect(encodeValues("asbb", [["a"], true, false]).toString("hex")).toBe(
      "06000000" + "010000006100" + "0000" + "01000000" + "00000000",
    );
    // The length of the array leaves out the padding before its first structure.
    expect(encodeValues("a(yv)", [[[8, { signature: "g", value: "s" }]]]).toString("hex")).toBe(
      "07000000" + "00000000" + "08" + "016700" + "017300",
    );
  });

  it("returns what decodeValues reads back", () => {
    const agrees = fc.property(
      fc.string(),
      fc.array(fc.string()),
      fc.boolean(),
      fc.nat(),
      (text, list, flag, number) => {
        const plain = (each: string) => each.replaceAll("\0", "").toWellFormed();
        const values = [plain(text), list.map(plain), flag, number];
        expect(decodeValues("sasbu", encodeValues("sasbu", values), { bigEndian: false })).toEqual(values);
      },
    );
    fc.assert(agrees);
  });

  it("refuses values that do not fit", () => {
    expect(() => encodeValues("s", [1])).toThrow("not a text");
    expect(() => encodeValues("s", ["a\0b"])).toThrow("not a text");
    expect(() => encodeValues("ss", ["a"])).toThrow("does not describe");
  });
});

describe("decodeValues", () => {
  it("reads both byte orders, dictionaries and variants", () => {
    const body = Buffer.from(
      "0000000d" + "00000000" + "00000001" + "6100" + "0175" + "00" + "000000" + "00000007",
      "hex",
    );
    expect(decodeValues("a{sv}", Buffer.from(body), { bigEndian: true })).toEqual([new Map([["a", 7]])]);
  });

  it("fails with an error on any bytes that are not the values", () => {
    const survives = fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        decodeValues("a{sv}sas(uv)", Buffer.from(bytes), { bigEndian: false });
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    });
    fc.assert(survives);
  });
});

describe("takeMessage", () => {
  const call = { destination: "a.b", path: "/a", interface: "a.b.C", member: "Get", signature: "su", body: ["x", 7] };

  it("returns a message once all of its bytes have arrived, and leaves the next one", () => {
    const bytes = Buffer.concat([encodeCall(1, call), encodeCall(2, call)]);
    const first = encodeCall(1, call).length;
    for (let length = 0; length < first; length++) expect(takeMessage(bytes.subarray(0, length))).toBeUndefined();
    const taken = takeMessage(bytes);
    expect(taken?.message).toEqual({ kind: "call", interface: "a.b.C", member: "Get", body: ["x", 7] });
    expect(taken?.rest).toEqual(encodeCall(2, call));
  });

  it("refuses a message that is too large", () => {
    const bytes = encodeCall(1, call);
    bytes.writeUInt32LE(0x7000_0000, 4);
    expect(() => takeMessage(bytes)).toThrow("message of");
  });
});
