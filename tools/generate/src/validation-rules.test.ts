// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { toValidationRules } from "./validation-rules.ts";

describe("toValidationRules", () => {
  it("copies a rule about the value that it is on", () => {
    const rule = { rule: "self != 'x'", message: "must not be x", fieldPath: ".a", reason: "FieldValueForbidden" };
    expect(toValidationRules("Kind", [rule])).toEqual([rule]);
  });

  it("makes a rule about several fields accept an object in which none of them changed", () => {
    const rule = { rule: "self.a != self.b.c", message: "must differ", fields: ["a", "b.c"] };
    expect(toValidationRules("Kind", [rule])).toEqual([
      {
        rule:
          "(self.a != self.b.c) || (oldSelf.hasValue()" +
          " && (has(self.a) ? oldSelf.?a.hasValue() && oldSelf.?a.value() == self.a : !oldSelf.?a.hasValue())" +
          " && (has(self.b) && has(self.b.c) ? oldSelf.?b.?c.hasValue() && oldSelf.?b.?c.value() == self.b.c" +
          " : !oldSelf.?b.?c.hasValue()))",
        optionalOldSelf: true,
        message: "must differ",
      },
    ]);
  });

  it.each([
    [{ rule: "true" }],
    [[{ rule: "true" }]],
    [[{ message: "must be" }]],
    [[{ rule: "true", message: "must be", fields: "a" }]],
    [[{ rule: "true", message: "must be", reason: "Whim" }]],
    [[{ rule: "true", message: "must be", fieldpath: ".a" }]],
    ["true"],
  ])("rejects %j and names the field", (rules) => {
    const refused = expect(() => toValidationRules("Kind.spec.a", rules));
    refused.toThrow(expect.objectContaining({ code: "NOT_STRUCTURAL", at: "Kind.spec.a" }));
  });
});
