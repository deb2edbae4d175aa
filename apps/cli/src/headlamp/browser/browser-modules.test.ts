// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { Buffer as NodeBuffer } from "node:buffer";
import { createHash as nodeHash } from "node:crypto";
import { isDeepStrictEqual as nodeEqual } from "node:util";
import { Buffer } from "./buffer.ts";
import { createHash, X509Certificate } from "./node-crypto.ts";
import { isDeepStrictEqual } from "./node-util.ts";

describe("the modules for browsers", () => {
  it.each(["", "a", "worker: zone=ä", "x".repeat(1_000)])("hash as Node.js does: %j", (text) => {
    for (const encoding of ["hex", "base64"] as const) {
      expect(createHash("sha256").update(text).digest(encoding)).toBe(nodeHash("sha256").update(text).digest(encoding));
    }
  });

  it.each(["", "a", "zone=ä", "😀"])("encode as Node.js does: %j", (text) => {
    expect(Buffer.byteLength(text)).toBe(NodeBuffer.byteLength(text));
    expect(Buffer.from(text, "utf8").toString("base64")).toBe(NodeBuffer.from(text, "utf8").toString("base64"));
  });

  it("read no certificates", () => {
    expect(X509Certificate).toThrow("certificates cannot be read in a browser");
  });

  it("compare JSON as Node.js does", () => {
    const values = [
      0,
      "0",
      null,
      true,
      [],
      {},
      [1, { a: [] }],
      [1, { a: {} }],
      { a: 1, b: 2 },
      { b: 2, a: 1 },
      { a: null },
    ];
    for (const a of values) {
      for (const b of values) expect(isDeepStrictEqual(a, b)).toBe(nodeEqual(a, b));
    }
  });
});
