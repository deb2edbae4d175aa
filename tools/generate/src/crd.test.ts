// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parse } from "yaml";
import { toCrd, toYaml } from "./crd.ts";

const things = { group: "example.com", version: "v1", kind: "Thing", plural: "things", namespaced: true };

describe("toCrd", () => {
  it("has all names of the kind and the subresource status", () => {
    const crd = toCrd({ ...things, columns: [] }, { type: "object" }, "1.2.3");
    expect(crd).toMatchObject({
      metadata: { name: "things.example.com" },
      spec: {
        scope: "Namespaced",
        names: { kind: "Thing", listKind: "ThingList", plural: "things", singular: "thing" },
        versions: [{ name: "v1", served: true, storage: true, subresources: { status: {} } }],
      },
    });
  });

  it("limits all texts of a status that has a limit, and no others", () => {
    const text = { type: "string" } as const;
    const properties = {
      name: text,
      state: { type: "string", enum: ["up"] },
      short: { type: "string", maxLength: 9 },
      names: { type: "array", items: text },
      options: { type: "object", additionalProperties: text },
    } as const;
    const schema = { type: "object", properties: { spec: text, status: { type: "object", properties } } } as const;
    const crd = JSON.stringify(toCrd({ ...things, columns: [], maxStatusTextBytes: 20 }, schema, "1.2.3"));
    const limited = { type: "string", maxLength: 20 };
    expect(crd).toContain(`"spec":${JSON.stringify(text)}`);
    expect(crd).toContain(
      JSON.stringify({ name: limited, state: properties.state, short: properties.short }).slice(1, -1),
    );
    expect(crd).toContain(`"items":${JSON.stringify(limited)}`);
    expect(crd).toContain(`"additionalProperties":${JSON.stringify(limited)}`);
  });

  it("sets the priority of wide columns", () => {
    const name = { name: "Name", type: "string", jsonPath: ".metadata.name" } as const;
    const crd = toCrd({ ...things, columns: [name, { ...name, wide: true }] }, { type: "object" }, "1.2.3");
    expect(crd).toMatchObject({ spec: { versions: [{ additionalPrinterColumns: [name, { ...name, priority: 1 }] }] } });
  });
});

describe("toYaml", () => {
  it("quotes words that have another meaning in YAML 1.1", () => {
    const words = ["on", "off", "yes", "n", "True", "null", "0x1", "1e3", "12:30", "01", "~", "", "auto"];
    const yaml = toYaml({ enum: words });
    expect(parse(yaml, { version: "1.1" })).toEqual({ enum: words });
    expect(yaml).toContain('"on"');
    expect(yaml).toContain("- auto");
  });

  it("repeats equal values instead of using anchors, which Kubernetes' tools do not resolve", () => {
    const same = { type: "string" };
    expect(toYaml({ a: same, b: same })).toBe("a:\n  type: string\nb:\n  type: string\n");
  });
});
