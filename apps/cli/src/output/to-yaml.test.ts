// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { toYaml } from "./to-yaml.ts";

describe("toYaml", () => {
  it.each([
    { data: { a: [], b: {}, c: null }, text: "a: []\nb: {}\nc: null\n" },
    { data: { list: [{ a: 1, b: [2] }, [3, [4]]] }, text: "list:\n- a: 1\n  b:\n  - 2\n- - 3\n  - - 4\n" },
    { data: { on: "off", number: "1", time: "12:30" }, text: '"on": "off"\nnumber: "1"\ntime: "12:30"\n' },
    { data: { config: '{\n  "a": 1\n}' }, text: 'config: |-\n  {\n    "a": 1\n  }\n' },
    { data: { left: undefined, out: 1 }, text: "out: 1\n" },
    { data: { a: "\u007f\u0085\u009b" }, text: 'a: "\\u007f\\u0085\\u009b"\n' },
    { data: { a: "\u2028\u2029\u202e\ufeff\ufffe\uffff" }, text: 'a: "\\u2028\\u2029\\u202e\\ufeff\\ufffe\\uffff"\n' },
    { data: { a: "\ud800b" }, text: 'a: "\ufffdb"\n' },
    { data: { ["k".repeat(1_001)]: [1], b: 2 }, text: `? ${"k".repeat(1_001)}\n:\n- 1\nb: 2\n` },
    { data: "plain", text: "plain\n" },
  ])("writes $data", ({ data, text }) => {
    expect(toYaml(data)).toBe(text);
  });

  it("writes YAML that kubectl has read as the same data", () => {
    const vectors = readFileSync(join(import.meta.dirname, "../../testdata/yaml-read-back/vectors.jsonl"), "utf8");
    const lines = vectors.trim().split("\n");
    expect(lines.length).toBeGreaterThan(400);
    for (const line of lines) {
      const { yaml, read } = JSON.parse(line) as { readonly yaml: string; readonly read: unknown };
      expect(toYaml(read)).toBe(yaml);
    }
  });

  it.each(["1.1", "1.2"] as const)("writes YAML that a reader of version %s reads as the same data", (version) => {
    // Parsed from JSON, so that keys have the order and meaning that JSON.parse gives them.
    const json = fc.jsonValue({ stringUnit: "binary" }).map((value): unknown => JSON.parse(JSON.stringify(value)));
    const survives = fc.property(json, (data) => {
      expect(parse(toYaml(data), { version, merge: false })).toEqual(data);
    });
    fc.assert(survives);
  });

  it("writes keys of any length so that they can be read", () => {
    const keys = fc.array(fc.tuple(fc.constantFrom("k", "€"), fc.integer({ min: 990, max: 1_100 })));
    const survives = fc.property(keys, fc.constantFrom<unknown>(1, [1], { a: 1 }, "a\nb"), (all, value) => {
      const data = [Object.fromEntries(all.map(([unit, count]) => [unit.repeat(count), value]))];
      expect(parse(toYaml(data))).toEqual(data);
    });
    fc.assert(survives);
  });

  it("keeps texts of lines and blanks", () => {
    const lines = fc
      .array(fc.constantFrom("a", "  b", "c ", "", "# d", "- e", "f: g", "\ttab"))
      .map((all) => all.join("\n"));
    const survives = fc.property(lines, (text) => {
      expect(parse(toYaml({ list: [{ text }] }))).toEqual({ list: [{ text }] });
    });
    fc.assert(survives);
  });
});
