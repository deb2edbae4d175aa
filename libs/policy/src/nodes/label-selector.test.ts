// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { LabelSelector } from "@switchyard/api";
import { compileLabelSelector, hasLabels, labelsProblem, type Labels } from "./label-selector.ts";

describe("hasLabels", () => {
  const labels = { zone: "a", worker: "" };

  it.each<{ does: string; required: Labels; result: boolean }>([
    { does: "selects everything if no label is required", required: {}, result: true },
    { does: "requires every pair", required: { zone: "a", worker: "" }, result: true },
    { does: "requires the exact value", required: { worker: "true" }, result: false },
    { does: "distinguishes an absent label from an empty one", required: { master: "" }, result: false },
    { does: "ignores inherited properties", required: { constructor: "" }, result: false },
  ])("$does", ({ required, result }) => {
    expect(hasLabels(labels, required)).toBe(result);
  });
});

describe("labelsProblem", () => {
  it.each<Labels>([
    {},
    { "node-role.kubernetes.io/worker": "" },
    { a: "b", "A_b.c-9": "x".repeat(63), [`${"a.".repeat(126)}b/${"n".repeat(63)}`]: "1" },
  ])("accepts labels that a node can have: %j", (labels) => {
    expect(labelsProblem(labels)).toBeUndefined();
  });

  it.each<Labels>([
    { 'node-role.kubernetes.io/worker"': "true" },
    { "": "a" },
    { "/a": "" },
    { "a/": "" },
    { "a/b/c": "" },
    { "Example.com/a": "" },
    { "a b": "" },
    { [`n${"n".repeat(63)}`]: "" },
    { a: '"true"' },
    { a: "-" },
    { a: "x".repeat(64) },
  ])("names a label that no node can have: %j", (labels) => {
    expect(labelsProblem(labels)).toContain("is not a label");
  });
});

describe("compileLabelSelector", () => {
  const labels = { zone: "a", worker: "" };
  const selects = (selector: LabelSelector | undefined) => {
    const predicate = compileLabelSelector(selector);
    return predicate.ok && predicate.value(labels);
  };

  it.each([
    { does: "selects everything if the selector is absent", selector: undefined, result: true },
    { does: "selects everything if the selector is empty", selector: {}, result: true },
    { does: "requires matchLabels", selector: { matchLabels: { zone: "b" } }, result: false },
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
  ] as const)("returns $result for $key $operator $values", ({ key, operator, values, result }) => {
    expect(selects({ matchExpressions: [{ key, operator, values }] })).toBe(result);
  });

  it("requires all requirements to be met", () => {
    const zoneB = { key: "zone", operator: "In", values: ["b"] } as const;
    expect(selects({ matchLabels: { worker: "" }, matchExpressions: [zoneB] })).toBe(false);
  });

  it.each([
    { operator: "In", values: [], code: "values-needed" },
    { operator: "NotIn", values: [], code: "values-needed" },
    { operator: "Exists", values: ["a"], code: "values-not-allowed" },
    { operator: "DoesNotExist", values: ["a"], code: "values-not-allowed" },
  ] as const)("rejects $operator with $values: $code", ({ operator, values, code }) => {
    const selector = compileLabelSelector({
      matchExpressions: [
        { key: "zone", operator: "Exists" },
        { key: "zone", operator, values },
      ],
    });
    expect(selector).toEqual({ ok: false, error: { code, field: "matchExpressions[1].values", value: values } });
  });

  it("rejects an unknown operator", () => {
    const anyText: string = "Like"; // stored before the CRD had a rule for it
    const selector = { matchExpressions: [{ key: "zone", operator: anyText as "In" }] };
    expect(compileLabelSelector(selector)).toEqual({
      ok: false,
      error: { code: "unknown-operator", field: "matchExpressions[0].operator", value: "Like" },
    });
  });
});
