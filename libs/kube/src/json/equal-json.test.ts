// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { canonicalJson } from "./texts.ts";
import { equalJson } from "./equal-json.ts";

// Few names and values, so that equal values are generated.
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, 0, 1, "", "a", true),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value")),
  ),
}));

describe("equalJson", () => {
  it("agrees with the comparison of canonical texts", () => {
    const agrees = fc.property(value, value, (a, b) => {
      expect(equalJson(a, b)).toBe(canonicalJson(a) === canonicalJson(b));
    });
    fc.assert(agrees, { numRuns: 500 });
  });

  it("treats an undefined member as absent and distinguishes arrays from objects", () => {
    expect(equalJson({ a: 1, b: undefined }, { a: 1 })).toBe(true);
    expect(equalJson({ a: undefined }, { a: null })).toBe(false);
    expect(equalJson([], {})).toBe(false);
  });

  it("distinguishes own members from inherited ones", () => {
    const some: unknown = JSON.parse('{ "__proto__": {} }');
    expect([equalJson(some, {}), equalJson({}, some), equalJson(some, structuredClone(some))]).toEqual([
      ...[false, false],
      true,
    ]);
  });
});

describe("canonicalJson", () => {
  it("is valid JSON and does not depend on the order of members", () => {
    fc.assert(
      fc.property(value, (some) => {
        expect(JSON.parse(canonicalJson(some))).toEqual(some);
      }),
    );
    expect(canonicalJson({ b: [{ d: 1, c: undefined }], a: 2 })).toBe('{"a":2,"b":[{"d":1}]}');
  });
});
