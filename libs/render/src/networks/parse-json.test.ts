// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { formatJson, type Json } from "./json.ts";
import { maxJsonDepth, parseJsonObject, parseJsonObjects } from "./parse-json.ts";

/** Converts a parsed value to a JavaScript value. */
function plain(value: Json): unknown {
  const back: unknown = JSON.parse(formatJson(value));
  return back;
}

describe("parseJsonObject", () => {
  it("returns the same values as JSON.parse for any output of JSON.stringify", () => {
    const written = fc.property(
      fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()),
      fc.nat(4),
      (object, indent) => {
        const text = JSON.stringify(object, undefined, indent);
        const parsed = parseJsonObject(text);
        expect(parsed.ok && plain(parsed.value)).toEqual(JSON.parse(text));
      },
    );
    fc.assert(written);
  });

  it("accepts and rejects the same texts as JSON.parse", () => {
    const characters = fc.constantFrom(...Array.from('{}[],:"\\ntfu0-1.eE \t\n\u0001é'));
    const words = fc.constantFrom("true", "null", '"a"', "{}", '{"a":', "\\u00e9");
    const soup = fc.array(fc.oneof(characters, words));
    const agrees = fc.property(soup, (pieces) => {
      const text = `{${pieces.join("")}}`;
      expect(parseJsonObject(text).ok).toBe(isJson(text));
    });
    fc.assert(agrees, { numRuns: 2000 });
  });

  it("keeps the order of members, the digits of numbers and the blanks in strings", () => {
    const text = '{ "10": 18446744073709551615, "2": 1.50, "1": -0.0, "a": 1E+3, "__proto__": " a\\tb ", "A": [] }';
    const parsed = parseJsonObject(text);
    expect(parsed.ok && formatJson(parsed.value)).toBe(
      '{\n    "10": 18446744073709551615,\n    "2": 1.50,\n    "1": -0.0,\n    "a": 1E+3,\n    "__proto__": " a\\tb ",\n    "A": []\n}',
    );
  });

  it.each([
    { text: "", code: "unexpected-end", line: 1, column: 1, path: "", expected: "an object: {…}" },
    { text: "dhcp", code: "unexpected-text", line: 1, column: 1, path: "", expected: "an object: {…}" },
    { text: " [1]", code: "unexpected-text", line: 1, column: 2, path: "", expected: "an object: {…}" },
    { text: '{"a": 1', code: "unexpected-end", line: 1, column: 8, path: "", expected: '"," or "}"' },
    { text: '{\n  "a": 1\n  "b": 2 }', code: "unexpected-text", line: 3, column: 3, path: "", expected: '"," or "}"' },
    {
      text: '{"a": {"b": [1, 2,]}}',
      code: "unexpected-text",
      line: 1,
      column: 19,
      path: "a.b[2]",
      expected: "a value",
    },
    { text: '{"a": tru}', code: "unexpected-text", line: 1, column: 7, path: "a", expected: "a value" },
    { text: '{"a": 01}', code: "unexpected-text", line: 1, column: 7, path: "a", expected: "a value" },
    { text: "{'a': 1}", code: "unexpected-text", line: 1, column: 2, path: "", expected: 'a quoted name or "}"' },
    { text: '{"a": 1,}', code: "unexpected-text", line: 1, column: 9, path: "", expected: "a quoted name" },
    { text: '{"a" 1}', code: "unexpected-text", line: 1, column: 6, path: "", expected: '":"' },
    { text: "{} {}", code: "unexpected-text", line: 1, column: 4, path: "", expected: "the end of the text" },
  ])("reports the position of the error in $text", ({ text, ...problem }) => {
    expect(parseJsonObject(text)).toEqual({ ok: false, error: { ...problem, offset: expect.any(Number) } });
  });

  it("reports the position of a line break or an invalid escape in a string", () => {
    expect(parseJsonObject('{"a": "b\nc"}')).toMatchObject({ error: { offset: 8, line: 1, column: 9, path: "a" } });
    expect(parseJsonObject('{"a": "b\\xc"}')).toMatchObject({
      error: { offset: 8, expected: expect.stringContaining("\\n") },
    });
    expect(parseJsonObject('{"a": "b')).toMatchObject({ error: { code: "unexpected-end", offset: 8 } });
  });

  it("accepts nested values up to a maximum depth, and never overflows the stack", () => {
    const nested = (depth: number) => `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    expect(parseJsonObject(nested(maxJsonDepth)).ok).toBe(true);
    expect(parseJsonObject(nested(maxJsonDepth + 1))).toMatchObject({ error: { code: "too-deep" } });
    expect(parseJsonObject('{"a":'.repeat(1_000_000))).toMatchObject({ error: { code: "too-deep" } });
  });

  it("parses a string of several megabytes", () => {
    const long = JSON.stringify({ a: "é".repeat(3_000_000), b: '"'.repeat(1_000_000) });
    expect(parseJsonObject(long).ok).toBe(true);
  });
});

describe("parseJsonObjects", () => {
  it("parses objects separated by commas", () => {
    const parsed = parseJsonObjects(' {"type": "tuning"},\n{"type": "vrf", "a": [{}]} ');
    expect(parsed.ok && parsed.value.map(plain)).toEqual([{ type: "tuning" }, { type: "vrf", a: [{}] }]);
  });

  it.each([
    { text: "", offset: 0, path: "[0]" },
    { text: '{"a": 1},', offset: 9, path: "[1]" },
    { text: '{"a": 1} {"b": 2}', offset: 9, path: "" },
    { text: '[{"a": 1}]', offset: 0, path: "[0]" },
    { text: '{"a": 1},{"b": x}', offset: 15, path: "[1].b" },
    { text: '{"a": 1}},{"b": 1}', offset: 8, path: "" },
  ])("reports the position of the error in $text", ({ text, ...problem }) => {
    expect(parseJsonObjects(text)).toMatchObject({ ok: false, error: problem });
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
