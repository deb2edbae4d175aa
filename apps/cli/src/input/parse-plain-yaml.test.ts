// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { inspect } from "node:util";
import { parse, stringify } from "yaml";
import { parsePlainYaml, plainLines } from "./parse-plain-yaml.ts";

/** As parse-manifests.ts reads it: YAML 1.1 without times. */
function complete(text: string): unknown {
  return parse(text, {
    version: "1.1",
    logLevel: "silent",
    customTags: (tags) =>
      tags.filter((tag) => typeof tag === "string" || (tag.format !== "TIME" && !tag.tag.endsWith(":timestamp"))),
  });
}

/** Texts that look like numbers, booleans and other scalars of one version of YAML or the other. */
const scalars = fc.stringMatching(
  /^(?:[-+]?[0-9][0-9._:boxeE]{0,5}|[-+]?[.][0-9]{1,3}|[yn]|yes|No|ON|off|true|False|null|~|\.inf|\.NaN|<<|=|0x1F|1e3)$/,
);

describe("parsePlainYaml", () => {
  it("reads a list of kubectl, with the lines of its items", () => {
    const text =
      'apiVersion: v1\nitems:\n- kind: Node\n  metadata:\n    labels:\n      a: "yes"\n- kind: Pod\nkind: List\n';
    expect(parsePlainYaml(text)).toEqual({
      apiVersion: "v1",
      kind: "List",
      items: [{ kind: "Node", metadata: { labels: { a: "yes" } } }, { kind: "Pod" }],
    });
    expect(plainLines(text)).toEqual([1, 3, 7]);
  });

  it.each([
    "a: 1 # x",
    "a: &b c",
    "a: !!str 1",
    "---\na: 1",
    "a: yes",
    "on: 1",
    "a: 010",
    "a: [n]",
    "a: 1_000",
    "a: 0xb_",
    "a: [",
    "",
  ])("leaves %j to the complete parser", (text) => {
    expect(parsePlainYaml(text)).toBeUndefined();
  });

  it("reads what it reads as the complete parser does: scalars of both versions of YAML", () => {
    const document = fc.dictionary(fc.oneof(scalars, fc.stringMatching(/^[a-z]{1,4}$/)), scalars, { minKeys: 1 });
    fc.assert(
      fc.property(document, fc.boolean(), (values, isList) => {
        const lines = Object.entries(values).map(([key, value]) => (isList ? `- ${value}` : `${key}: ${value}`));
        const text = `${lines.join("\n")}\n`;
        const plain = parsePlainYaml(text);
        if (plain === undefined) return;
        const known = complete(text);
        // The complete parser takes "0x_" and "1e310" for numbers, which kubectl does not.
        fc.pre(!inspect(known, { depth: 5 }).includes("NaN") && !/\de\+?\d{3}/i.test(text));
        expect(plain).toEqual(known);
      }),
      { numRuns: 3_000 },
    );
  });

  it("reads any list that was written as YAML", () => {
    const item = fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.jsonValue(), { minKeys: 1 });
    fc.assert(
      fc.property(fc.array(item), item, item, (items, before, after) => {
        const data = { ...before, items, ...after };
        const text = stringify(data, { version: "1.1", indentSeq: false });
        const plain = parsePlainYaml(text);
        if (plain !== undefined) expect(plain).toEqual(complete(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    "items:\n- a: 1\nb\n- c: 2\n",
    "items:\n- 'a\n- b'\n",
    "items:\n- a: 1\nitems:\n- b: 2\n",
    "items:\n- a: 1\nkind: List\n- b: 2\n",
    "items:\n- a: 1\n b: 2\n",
  ])("leaves the broken list %j to the complete parser", (text) => {
    expect(parsePlainYaml(text)).toBeUndefined();
  });

  it("reads any data that was written as YAML", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (data) => {
        const text = stringify(data, { version: "1.1" });
        const plain = parsePlainYaml(text);
        if (plain !== undefined) expect(plain).toEqual(complete(text));
      }),
      { numRuns: 1_000 },
    );
  });
});
