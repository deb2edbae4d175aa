// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { schemas } from "@switchyard/api";
import { missingFields } from "./schema-fields.ts";

const text = { type: "string" };
const object = (properties: Readonly<Record<string, unknown>>) => ({ type: "object", properties });

describe("missingFields", () => {
  it.each([
    { does: "finds a field", wanted: object({ a: text, b: text }), present: object({ a: text }), missing: ["b"] },
    {
      does: "names the outermost field only",
      wanted: object({ status: object({ x: object({ y: text }) }) }),
      present: object({ status: object({}) }),
      missing: ["status.x"],
    },
    {
      does: "looks into lists and maps",
      wanted: object({
        l: { type: "array", items: object({ a: text }) },
        m: { additionalProperties: object({ b: text }) },
      }),
      present: object({ l: { type: "array", items: object({}) }, m: { additionalProperties: object({}) } }),
      missing: ["l[].a", "m.*.b"],
    },
    {
      does: "takes fields that are kept although they are unknown",
      wanted: object({ spec: object({ a: text }) }),
      present: object({ spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }),
      missing: [],
    },
    {
      does: "takes fields of a map for the fields of an object",
      wanted: object({ labels: object({ a: text }) }),
      present: object({ labels: { additionalProperties: text } }),
      missing: [],
    },
    {
      does: "does not compare metadata",
      wanted: object({ metadata: object({ a: text }) }),
      present: object({}),
      missing: [],
    },
    {
      does: "is not misled by names of Object.prototype",
      wanted: object({ toString: text }),
      present: object({}),
      missing: ["toString"],
    },
    { does: "finds nothing in what is no schema", wanted: undefined, present: null, missing: [] },
  ])("$does", ({ wanted, present, missing }) => {
    expect(missingFields({ wanted, present })).toEqual(missing);
  });

  it.each(Object.keys(schemas))("finds nothing missing in %s itself", (kind) => {
    expect(missingFields({ wanted: schemas[kind], present: schemas[kind] })).toEqual([]);
  });
});
