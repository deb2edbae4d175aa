// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { MessageWriter, readMessage } from "./protobuf.ts";

describe("readMessage", () => {
  it("reads an example of the protobuf documentation", () => {
    expect(readMessage(Buffer.from("089601", "hex")).number(1)).toBe(150);
    expect(readMessage(Buffer.from("120774657374696e67", "hex")).text(2)).toBe("testing");
  });

  it("reads what MessageWriter writes", () => {
    fc.assert(
      fc.property(
        fc.maxSafeNat(),
        fc.string(),
        fc.array(fc.string()),
        fc.uint8Array(),
        (number, text, texts, bytes) => {
          const inner = new MessageWriter().number(15, number).text(16, text).bytes(17, Buffer.from(bytes));
          const read = readMessage(new MessageWriter().message(1, inner).texts(2, texts).finish());
          expect(read.messages(1).map((one) => [one.number(15), one.text(16)])).toEqual([
            [number, text.toWellFormed()],
          ]);
          expect(read.messages(1)[0]?.bytes(17)).toEqual(Buffer.from(bytes));
          expect(read.texts(2)).toEqual(texts.map((one) => one.toWellFormed()));
        },
      ),
    );
  });

  it("throws only ProtobufError, whatever the bytes are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat(20), (bytes, field) => {
        try {
          const { number, text, messages } = readMessage(Buffer.from(bytes));
          for (const read of [number, text, messages]) read(field);
        } catch (error) {
          expect(error).toMatchObject({ code: "MALFORMED_MESSAGE" });
        }
      }),
    );
  });

  it("takes time in proportion to the number of values of a field", () => {
    const time = (count: number): number => {
      const from = performance.now();
      expect(readMessage(Buffer.from("0a00".repeat(count), "hex")).texts(1)).toHaveLength(count);
      return performance.now() - from;
    };
    time(1_000);
    expect(time(80_000)).toBeLessThan(2_000); // 40 s with a copy for each value
  });

  it("ignores unknown fields of all types", () => {
    const bytes = Buffer.from("09" + "00".repeat(8) + "15" + "00".repeat(4) + "1801" + "2200" + "2a0161", "hex");
    expect(readMessage(bytes).text(5)).toBe("a");
  });
});
