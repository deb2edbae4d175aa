// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { parseWatchEvent, readLines } from "./watch-stream.ts";

async function* inPieces(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  let from = 0;
  for (const end of ends) {
    await Promise.resolve();
    yield bytes.subarray(from, end);
    from = end;
  }
}

const object = { apiVersion: "v1", kind: "Node", metadata: { name: "a", resourceVersion: "7" } };

describe("readLines", () => {
  it("returns the same lines for any split of the stream, also within a character", async () => {
    const lines = fc.array(fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", "")));
    const same = fc.asyncProperty(lines, fc.array(fc.nat()), async (texts, cuts) => {
      const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(""));
      expect(await Array.fromAsync(readLines(inPieces(bytes, cuts), "watch"))).toEqual(texts);
    });
    await fc.assert(same);
  });

  it("reads a line of 32 MB in pieces of 16 KB", async () => {
    const bytes = Buffer.alloc(32 * 1024 * 1024, "x");
    bytes[bytes.length - 1] = 0x0a;
    const cuts = Array.from({ length: 2048 }, (_, index) => index * 16 * 1024);
    const [line = ""] = await Array.fromAsync(readLines(inPieces(bytes, cuts), "watch"));
    expect(line).toHaveLength(bytes.length - 1);
  });

  it("throws for a stream that ends within a line", async () => {
    const lines = readLines(inPieces(Buffer.from('{"a":1}\n{"b":'), []), "watch");
    expect((await lines.next()).value).toBe('{"a":1}');
    await expect(lines.next()).rejects.toMatchObject({ code: "ConnectionLost" });
  });
});

describe("parseWatchEvent", () => {
  it("reads changes and bookmarks", () => {
    expect(parseWatchEvent(JSON.stringify({ type: "MODIFIED", object }), "watch")).toEqual({
      type: "MODIFIED",
      object,
    });
    const bookmark = { kind: "Node", apiVersion: "v1", metadata: { resourceVersion: "9", creationTimestamp: null } };
    const event = parseWatchEvent(JSON.stringify({ type: "BOOKMARK", object: bookmark }), "watch");
    expect(event).toEqual({ type: "BOOKMARK", resourceVersion: "9" });
  });

  it("throws the error of an ERROR event", () => {
    const status = {
      kind: "Status",
      status: "Failure",
      reason: "Expired",
      message: "too old resource version",
      code: 410,
    };
    const line = JSON.stringify({ type: "ERROR", object: status });
    expect(() => parseWatchEvent(line, "watch /a")).toThrow("watch /a: Expired (too old resource version)");
  });

  it.each([
    "",
    "null",
    "[]",
    '{"type":"ADDED"}',
    '{"type":"ADDED","object":{"kind":"Node"}}',
    '{"type":"OTHER","object":{}}',
  ])("throws UnexpectedResponse for %o", (line) => {
    expect(() => parseWatchEvent(line, "watch")).toThrow("UnexpectedResponse");
  });
});
