// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { toObjectSchema, toStructural } from "./structural.ts";

const text = { type: "string" };

describe("toStructural", () => {
  it("keeps bounds, defaults, formats and Kubernetes' own keywords", () => {
    const list = { type: "array", items: text, "x-kubernetes-list-type": "set" };
    const number = { type: "integer", minimum: 0, maximum: 99, default: 99, format: "int32" };
    expect(toStructural("Kind", list)).toEqual(list);
    expect(toStructural("Kind", number)).toEqual(number);
  });

  it("converts number | string to int-or-string", () => {
    expect(toStructural("Kind", { type: ["string", "number"] })).toEqual({
      "x-kubernetes-int-or-string": true,
      anyOf: [{ type: "integer" }, { type: "string" }],
    });
  });

  it("converts a Record to additionalProperties, and an interface to properties", () => {
    expect(toStructural("Kind", { type: "object", additionalProperties: text })).toEqual({
      type: "object",
      additionalProperties: text,
    });
    expect(toStructural("Kind", { type: "object", properties: { a: text }, additionalProperties: false })).toEqual({
      type: "object",
      properties: { a: text },
    });
  });

  it("does not require fields with a default", () => {
    const properties = { a: { ...text, default: "x" }, b: text };
    expect(toStructural("Kind", { type: "object", properties, required: ["a", "b"] }).required).toEqual(["b"]);
    expect(toStructural("Kind", { type: "object", properties, required: ["a"] })).not.toHaveProperty("required");
  });

  it("converts a single literal to an enum", () => {
    expect(toStructural("Kind", { type: "string", const: "mellanox" })).toEqual({ type: "string", enum: ["mellanox"] });
  });

  it("lists the values of an open enum in the description only", () => {
    const open = { type: "string", enum: ["netdevice", "vfio-pci"], description: "What is bound.", openEnum: true };
    expect(toStructural("Kind", open)).toEqual({
      type: "string",
      description: "What is bound. Known values: netdevice, vfio-pci.",
    });
  });

  it("marks a deprecated field in the description, because a CRD has no keyword for it", () => {
    expect(toStructural("Kind", { type: "boolean", description: "No effect.", deprecated: true })).toEqual({
      type: "boolean",
      description: "No effect. Deprecated.",
    });
  });

  it.each([
    [{ type: "number" }, 'Kind.spec.a[] has the unsupported type "number"; add @asType integer'],
    [{ type: ["string", "null"] }, 'Kind.spec.a[] has the unsupported type ["string","null"]'],
    [{ $ref: "#/definitions/Other" }, "Kind.spec.a[] has the unsupported type undefined"],
    [{ anyOf: [text, { type: "boolean" }] }, "Kind.spec.a[] has the unsupported type undefined"],
    [{ type: "object", allOf: [] }, "Kind.spec.a[] has allOf [], which is not supported in a CRD"],
    [{ type: "string", enum: ["a", 1] }, 'Kind.spec.a[] has enum ["a",1], which is not supported in a CRD'],
    [
      { type: "array", "x-kubernetes-list-type": "mapp" },
      'Kind.spec.a[] has x-kubernetes-list-type "mapp", which is not supported in a CRD',
    ],
    [{ type: "integer", openEnum: true }, "Kind.spec.a[] has @openEnum, but is not a union of string literals"],
    [true, "Kind.spec.a[] has no schema"],
  ])("rejects %j and names the field", (items, message) => {
    const spec = { type: "object", properties: { a: { type: "array", items } } };
    const refused = expect(() => toStructural("Kind", { type: "object", properties: { spec } }));
    refused.toThrow(expect.objectContaining({ code: "NOT_STRUCTURAL", at: "Kind.spec.a[]", message }));
  });
});

describe("toObjectSchema", () => {
  const kind = {
    $schema: "http://json-schema.org/draft-07/schema#",
    definitions: {},
    type: "object",
    description: "A thing.",
    properties: {
      apiVersion: { type: "string", const: "example.com/v1" },
      kind: { type: "string", const: "Thing" },
      metadata: { type: "object", properties: { generation: { type: "number" } } },
      spec: { type: "object", properties: {} },
    },
    required: ["apiVersion", "kind", "metadata", "spec"],
  };

  it("has apiVersion, kind and metadata as the API server expects them", () => {
    expect(toObjectSchema("Thing", kind)).toEqual({
      type: "object",
      description: "A thing.",
      required: ["spec"],
      properties: {
        apiVersion: { type: "string", description: expect.any(String) },
        kind: { type: "string", description: expect.any(String) },
        metadata: { type: "object" },
        spec: { type: "object", properties: {} },
      },
    });
  });

  it("rejects a schema that is not of an interface", () => {
    expect(() => toObjectSchema("Thing", text)).toThrow("Thing is not an interface");
  });
});
