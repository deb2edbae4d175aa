// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parse } from "yaml";
import { toCrd, toYaml } from "./crd.ts";

const things = { group: "example.com", version: "v1", kind: "Thing", plural: "things", namespaced: true };

describe("toCrd", () => {
  it("names the kind in all its forms and makes status a subresource", () => {
    const crd = toCrd({ ...things, columns: [] }, { type: "object" });
    expect(crd).toMatchObject({
      metadata: { name: "things.example.com" },
      spec: {
        scope: "Namespaced",
        names: { kind: "Thing", listKind: "ThingList", plural: "things", singular: "thing" },
        versions: [{ name: "v1", served: true, storage: true, subresources: { status: {} } }],
      },
    });
  });

  it("gives wide columns the priority that hides them", () => {
    const name = { name: "Name", type: "string", jsonPath: ".metadata.name" } as const;
    const crd = toCrd({ ...things, columns: [name, { ...name, wide: true }] }, { type: "object" });
    expect(crd).toMatchObject({ spec: { versions: [{ additionalPrinterColumns: [name, { ...name, priority: 1 }] }] } });
  });
});

describe("toYaml", () => {
  it("quotes words that Kubernetes, which reads YAML 1.1, would take for something else", () => {
    const words = ["on", "off", "yes", "n", "True", "null", "0x1", "1e3", "12:30", "01", "~", "", "auto"];
    const yaml = toYaml({ enum: words });
    expect(parse(yaml, { version: "1.1" })).toEqual({ enum: words });
    expect(yaml).toContain('"on"');
    expect(yaml).toContain("- auto");
  });

  it("repeats what is the same, since Kubernetes' tools show anchors as they are", () => {
    const same = { type: "string" };
    expect(toYaml({ a: same, b: same })).toBe("a:\n  type: string\nb:\n  type: string\n");
  });
});
