// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { CniError, cniCode } from "../request/cni-error.ts";
import { createFrameReader } from "./rpc-frames.ts";

/**
 * Objects whose strings contain braces, brackets, quotes and backslashes. Keys need no escapes: JSON.parse of V8 13.6
 * (Node 24.21) confuses some keys with escapes, `{"\\"":1}` with `{"\\\\":1}` after it has parsed both.
 */
const object = fc.dictionary(
  fc.stringMatching(/^[a-z{}[\]:,]{1,4}$/),
  fc.oneof(fc.string(), fc.constantFrom('}"', "\\\\", '"', "\\", "[{", "ü€𝄞"), fc.array(fc.integer()), fc.constant({})),
);

/** `bytes` in chunks of the given lengths, and the rest. */
function pieces(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const result: Buffer[] = [];
  let start = 0;
  for (const length of lengths) {
    result.push(bytes.subarray(start, start + length));
    start += length;
  }
  return [...result, bytes.subarray(start)];
}

describe("createFrameReader", () => {
  it("returns the same objects for any chunks", () => {
    const blank = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(object, blank)), fc.array(fc.nat(20)), (sent, cuts) => {
        const stream = Buffer.from(sent.map(([value, gap]) => `${gap}${JSON.stringify(value)}`).join(""));
        const frames = createFrameReader(1 << 20);
        const received = pieces(stream, cuts).flatMap((piece) => frames.push(piece));
        expect(received).toEqual(sent.map(([value]): unknown => JSON.parse(JSON.stringify(value))));
      }),
    );
  });

  it("takes time in proportion to the bytes, also if each comes by itself", () => {
    const bytes = Buffer.from(`{"a":"${"x".repeat(300_000)}"}`);
    const frames = createFrameReader(1 << 20);
    const startedMs = performance.now();
    let received = 0;
    for (let at = 0; at < bytes.length; at++) received += frames.push(bytes.subarray(at, at + 1)).length;
    expect(received).toBe(1);
    expect(performance.now() - startedMs).toBeLessThan(2_000); // copies of all that is pending would have 45 GB
  });

  it("keeps an incomplete object for the next chunk", () => {
    const frames = createFrameReader(100);
    expect(frames.push(Buffer.from('{"a":"\\'))).toEqual([]);
    expect(frames.push(Buffer.from('"}"}{'))).toEqual([{ a: '"}' }]);
    expect(frames.push(Buffer.from("}"))).toEqual([{}]);
  });

  it.each(["HTTP/1.1 400", "null", "[1]", '"a"', "{]", "{'a':1}", "\u0000{}", '{"a":1]'])(
    "refuses %j with code 101",
    (text) => {
      expect(() => createFrameReader(100).push(Buffer.from(text))).toThrow(
        expect.objectContaining({ code: cniCode.protocol }),
      );
    },
  );

  it("refuses an object that is too long", () => {
    const frames = createFrameReader(100);
    expect(() => frames.push(Buffer.from(`{"a":"${"x".repeat(200)}`))).toThrow("longer than 100 bytes");
  });

  it("throws nothing but CniError for any bytes", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.uint8Array(),
            fc.string().map((text) => Buffer.from(text)),
          ),
        ),
        (chunks) => {
          const frames = createFrameReader(64);
          try {
            for (const chunk of chunks) frames.push(Buffer.from(chunk));
          } catch (error) {
            expect(error).toBeInstanceOf(CniError);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});
