// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { StructuralSchema } from "@switchyard/api";
import { toIndex, toPage } from "./api-docs.ts";

const resource = {
  group: "example.com",
  version: "v1",
  kind: "Thing",
  plural: "things",
  namespaced: true,
  columns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
} as const;

const schema: StructuralSchema = {
  description: "A thing.",
  type: "object",
  "x-kubernetes-validations": [{ rule: "…", message: "must be odd", fieldPath: ".spec.size" }],
  properties: {
    metadata: { type: "object" },
    spec: {
      description: "What is wanted.",
      type: "object",
      required: ["size"],
      properties: {
        size: { description: "How big.", type: "integer", minimum: 1, maximum: 9, default: 3 },
        mode: { description: "On | off.", type: "string", enum: ["on", "off"] },
        words: {
          description: "Words by name.",
          type: "object",
          maxProperties: 2,
          additionalProperties: {
            type: "string",
            "x-kubernetes-validations": [{ rule: "…", message: "must be short" }],
          },
        },
        parts: {
          description: "Its parts.",
          type: "array",
          items: { type: "object", properties: { name: { description: "A name.", type: "string", maxLength: 5 } } },
        },
        share: { description: "A share.", "x-kubernetes-int-or-string": true },
      },
    },
  },
};

describe("toPage", () => {
  const page = toPage({ resource, schema, example: "kind: Thing\n" });

  it("starts with the description of the kind and an example", () => {
    expect(page).toContain("# Thing\n\nA thing.\n\n`apiVersion: example.com/v1`, namespaced.");
    expect(page).toContain("```yaml\nkind: Thing\n```");
  });

  it("lists path, type, default, description, bounds and rules of each field", () => {
    const [, list = ""] = page.split("## spec\n\nWhat is wanted.\n\n");
    expect(
      list
        .trimEnd()
        .split("\n")
        .filter((line) => line !== ""),
    ).toEqual([
      "- `spec.size` (integer, required, default `3`)",
      "  How big. From 1 to 9.",
      "  - must be odd",
      "- `spec.mode` (string)",
      '  On | off. One of `"on"`, `"off"`.',
      "- `spec.words` (map of strings)",
      "  Words by name. At most 2 entries.",
      "  - must be short",
      "- `spec.parts` (list of objects)",
      "  Its parts.",
      "- `spec.parts[].name` (string)",
      "  A name. At most 5 characters.",
      "- `spec.share` (integer or string)",
      "  A share.",
    ]);
  });

  it("omits the fields that all Kubernetes objects have", () => {
    expect(page).not.toContain("metadata");
  });
});

describe("toIndex", () => {
  it("links to the page of each kind", () => {
    expect(toIndex([{ resource, schema }])).toBe("# API reference\n\n- [Thing](thing.md): A thing.\n");
  });
});
