// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { LabelSelector } from "@switchyard/api";
import { compileLabelSelector, hasLabels, type Labels } from "./label-selector.ts";

describe("hasLabels", () => {
  const labels = { zone: "a", worker: "" };

  it.each<{ does: string; required: Labels; result: boolean }>([
    { does: "selects by no label at all", required: {}, result: true },
    { does: "wants every pair", required: { zone: "a", worker: "" }, result: true },
    { does: "wants the exact value", required: { worker: "true" }, result: false },
    { does: "tells an absent label from an empty one", required: { master: "" }, result: false },
    { does: "knows no inherited keys", required: { constructor: "" }, result: false },
  ])("$does", ({ required, result }) => {
    expect(hasLabels(labels, required)).toBe(result);
  });
});

describe("compileLabelSelector", () => {
  const labels = { zone: "a", worker: "" };
  const selects = (selector: LabelSelector | undefined) => {
    const predicate = compileLabelSelector(selector);
    return predicate.ok && predicate.value(labels);
  };

  it.each([
    { does: "selects all where absent", selector: undefined, result: true },
    { does: "selects all where empty", selector: {}, result: true },
    { does: "wants matchLabels", selector: { matchLabels: { zone: "b" } }, result: false },
  ])("$does", ({ selector, result }) => {
    expect(selects(selector)).toBe(result);
  });

  it.each([
    { key: "zone", operator: "In", values: ["a", "b"], result: true },
    { key: "zone", operator: "In", values: ["b"], result: false },
    { key: "none", operator: "In", values: [""], result: false },
    { key: "zone", operator: "NotIn", values: ["a"], result: false },
    { key: "none", operator: "NotIn", values: [""], result: true },
    { key: "worker", operator: "Exists", values: [], result: true },
    { key: "toString", operator: "Exists", values: [], result: false },
    { key: "worker", operator: "DoesNotExist", values: [], result: false },
    { key: "none", operator: "DoesNotExist", values: [], result: true },
  ] as const)("answers $result for $key $operator $values", ({ key, operator, values, result }) => {
    expect(selects({ matchExpressions: [{ key, operator, values }] })).toBe(result);
  });

  it("wants all requirements to hold", () => {
    const zoneB = { key: "zone", operator: "In", values: ["b"] } as const;
    expect(selects({ matchLabels: { worker: "" }, matchExpressions: [zoneB] })).toBe(false);
  });

  it.each([
    { operator: "In", values: [], code: "values-needed" },
    { operator: "NotIn", values: [], code: "values-needed" },
    { operator: "Exists", values: ["a"], code: "values-not-allowed" },
    { operator: "DoesNotExist", values: ["a"], code: "values-not-allowed" },
  ] as const)("refuses $operator with $values: $code", ({ operator, values, code }) => {
    const selector = compileLabelSelector({
      matchExpressions: [
        { key: "zone", operator: "Exists" },
        { key: "zone", operator, values },
      ],
    });
    expect(selector).toEqual({ ok: false, error: { code, field: "matchExpressions[1].values", value: values } });
  });

  it("refuses an operator that does not exist", () => {
    const anyText: string = "Like"; // the CRD lets any text through
    const selector = { matchExpressions: [{ key: "zone", operator: anyText as "In" }] };
    expect(compileLabelSelector(selector)).toEqual({
      ok: false,
      error: { code: "unknown-operator", field: "matchExpressions[0].operator", value: "Like" },
    });
  });
});
