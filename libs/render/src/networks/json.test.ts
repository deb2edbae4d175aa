// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { compactJson, formatJson, layoutLength } from "./json.ts";
import { parseJsonObject } from "./parse-json.ts";

const objects = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 5 })).map((object) => {
  const parsed = parseJsonObject(JSON.stringify(object));
  if (!parsed.ok) throw new Error(parsed.error.expected);
  return { object, value: parsed.value };
});

describe("compactJson", () => {
  it("returns the same text as JSON.stringify", () => {
    const same = fc.property(objects, ({ object, value }) => {
      expect(JSON.parse(compactJson(value))).toEqual(JSON.parse(JSON.stringify(object)));
      expect(compactJson(value)).toHaveLength(JSON.stringify(object).length);
    });
    fc.assert(same);
  });
});

describe("layoutLength", () => {
  it("returns the difference in length between formatJson and compactJson", () => {
    const same = fc.property(objects, ({ value }) => {
      expect(layoutLength(value)).toBe(formatJson(value).length - compactJson(value).length);
    });
    fc.assert(same);
  });
});
