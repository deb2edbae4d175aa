// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { parseLimitedJson } from "./limited-json.ts";

const nested = (levels: number): string => `${"[".repeat(levels)}"[{\\"["${"]".repeat(levels)}`;

describe("parseLimitedJson", () => {
  it("reads the same as JSON.parse", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        expect(parseLimitedJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it("reads 100 levels, and brackets in texts are none", () => {
    expect(JSON.stringify(parseLimitedJson(nested(100)))).toBe(nested(100));
  });

  it.each([101, 6_000, 300_000])("throws SyntaxError for %i levels", (levels) => {
    expect(() => parseLimitedJson(nested(levels))).toThrow(new SyntaxError("more than 100 levels of nesting"));
  });

  it("throws SyntaxError for a text that is not JSON", () => {
    expect(() => parseLimitedJson('{"a"')).toThrow(SyntaxError);
  });
});
