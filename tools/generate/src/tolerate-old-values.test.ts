// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { StructuralSchema } from "@switchyard/api";
import { tolerateOldValues } from "./tolerate-old-values.ts";

const old = "|| (oldSelf.hasValue() && oldSelf.value() == self)";
const rule = { rule: "self != 'x'", message: "must not be x" };
const text: StructuralSchema = { type: "string", "x-kubernetes-validations": [rule] };

describe("tolerateOldValues", () => {
  it("lets a rule accept the old value of its field", () => {
    expect(tolerateOldValues({ type: "object", properties: { a: text } })).toEqual({
      type: "object",
      properties: {
        a: {
          type: "string",
          "x-kubernetes-validations": [{ ...rule, rule: `(self != 'x') ${old}`, optionalOldSelf: true }],
        },
      },
    });
  });

  it("keeps a rule that compares its fields itself", () => {
    const own = { type: "object", "x-kubernetes-validations": [{ ...rule, optionalOldSelf: true }] } as const;
    expect(tolerateOldValues(own)).toEqual(own);
  });

  it("moves the rules of items to the list, whose old value is known", () => {
    expect(tolerateOldValues({ type: "array", items: text })).toEqual({
      type: "array",
      items: { type: "string" },
      "x-kubernetes-validations": [
        {
          rule: `(self.all(item, item != 'x')) ${old}`,
          message: "each entry must not be x",
          optionalOldSelf: true,
        },
      ],
    });
  });

  it("moves rules below an atomic map to the map, with the path of the field", () => {
    const item: StructuralSchema = {
      type: "object",
      "x-kubernetes-validations": [{ ...rule, rule: "self.b != 'x'", fieldPath: ".b" }],
      properties: { c: text },
    };
    const map: StructuralSchema = {
      type: "object",
      "x-kubernetes-map-type": "atomic",
      properties: { a: { type: "array", items: item } },
    };
    expect(tolerateOldValues(map)["x-kubernetes-validations"]).toEqual([
      {
        rule: `(!has(self.a) || (self.a.all(item, item.b != 'x'))) ${old}`,
        message: "b of each entry must not be x",
        fieldPath: ".a",
        optionalOldSelf: true,
      },
      {
        rule: `(!has(self.a) || (self.a.all(item, !has(item.c) || (item.c != 'x')))) ${old}`,
        message: "c of each entry must not be x",
        fieldPath: ".a",
        optionalOldSelf: true,
      },
    ]);
  });
});
