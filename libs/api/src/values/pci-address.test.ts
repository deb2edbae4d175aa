// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { parsePciAddress } from "./addresses.ts";

describe("parsePciAddress", () => {
  it.each(["0000:3b:00.0", "0000:ff:1f.7", "10000:01:00.0"])("parses %s", (text) => {
    expect(parsePciAddress(text)).toEqual({ ok: true, value: text });
  });

  it("converts digits to lower case", () => {
    expect(parsePciAddress("0000:3B:1F.0")).toEqual({ ok: true, value: "0000:3b:1f.0" });
  });

  it.each([
    "",
    "3b:00.0",
    "0000:3b:00",
    "0000:3b:20.0",
    "0000:3b:00.8",
    " 0000:3b:00.0",
    "0000:3b:00.0\n",
    "../0000:3b:00.0",
  ])("rejects %j", (text) => {
    expect(parsePciAddress(text)).toEqual({ ok: false, error: { code: "malformed", text } });
  });

  it("returns addresses that it parses to themselves and that contain no path separator", () => {
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[01][0-9a-fA-F]\.[0-7]$/));
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parsePciAddress(text);
        fc.pre(parsed.ok);
        expect(parsePciAddress(parsed.value)).toEqual(parsed);
        expect(parsed.value).not.toMatch(/[/\s]/);
      }),
    );
  });
});
