// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { JsonStream } from "./json-stream.ts";

/** Cuts `bytes` at the given places. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1))), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

describe("JsonStream", () => {
  it("finds the messages wherever the stream is cut", () => {
    const separator = fc.constantFrom("", "\n", " \t\r\n");
    const messages = fc.array(fc.tuple(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()), separator));
    fc.assert(
      fc.property(messages, fc.array(fc.nat()), (sent, places) => {
        const bytes = Buffer.from(sent.map(([message, after]) => JSON.stringify(message) + after).join(""));
        const stream = new JsonStream(1 << 20);
        const received = cut(bytes, places).flatMap((chunk) => stream.push(chunk));
        expect(received).toEqual(sent.map(([message]) => JSON.parse(JSON.stringify(message)) as unknown));
      }),
    );
  });

  it.each([
    { what: "an array", bytes: "[1]", error: 'the server sent "[" where a JSON object must start' },
    { what: "a control character", bytes: "\u0000", error: "the server sent byte 0 where a JSON object must start" },
    { what: "an object that is not JSON", bytes: "{nonsense}", error: "a message of 10 bytes that is not JSON" },
    {
      what: "a long message",
      bytes: `{"a":"${"x".repeat(100)}`,
      error: "the server sent a message of more than 64 bytes",
    },
  ])("refuses $what", ({ bytes, error }) => {
    expect(() => new JsonStream(64).push(Buffer.from(bytes))).toThrow(error);
  });

  it.each(["[", '{"a":'])("refuses a message with more than 64 levels of %s", (opening) => {
    const message = Buffer.from(`{"a":${opening.repeat(64)}`);
    expect(() => new JsonStream(1 << 20).push(message)).toThrow("a message with more than 64 levels");
  });

  it("limits the message, not the stream", () => {
    const stream = new JsonStream(64);
    const message = Buffer.from(`{"a":"${"x".repeat(40)}"}`);
    for (let count = 0; count < 100; count++) expect(stream.push(message)).toHaveLength(1);
  });
});
