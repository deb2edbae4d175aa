// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { parseManifests } from "./parse-manifests.ts";

const head = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n";

describe("parseManifests", () => {
  it("reads several documents, also empty ones, with the line of each", () => {
    const { manifests, problems } = parseManifests(`# first\n---\n${head}---\n---\n${head}`, "f.yaml");
    expect(manifests.map(({ kind, name, origin }) => [kind, name, origin])).toEqual([
      ["Node", "a", "f.yaml:3"],
      ["Node", "a", "f.yaml:8"],
    ]);
    expect(problems).toEqual([]);
  });

  it.each([
    { form: "YAML", text: `apiVersion: v1\nkind: List\nitems:\n- ${head.replaceAll("\n", "\n  ").trimEnd()}\n` },
    {
      form: "JSON",
      text: '{"apiVersion":"v1","kind":"NodeList","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}]}',
    },
  ])("reads the items of lists in $form", ({ text }) => {
    expect(parseManifests(text, "f").manifests.map(({ kind, name }) => [kind, name])).toEqual([["Node", "a"]]);
  });

  it("reads scalars as kubectl does", () => {
    const text = `${head}on: yes\npci: 0000:03:00.0\nmac: 00:11:22:33:44:55\ntime: 12:30\nday: 2024-01-01\noctal: 010\n`;
    expect(parseManifests(text, "f").manifests[0]?.object).toMatchObject({
      true: true,
      pci: "0000:03:00.0",
      mac: "00:11:22:33:44:55",
      time: "12:30",
      day: "2024-01-01",
      octal: 8,
    });
  });

  it.each([
    { yaml: "0o10", value: 8 },
    { yaml: "-0o10", value: -8 },
    { yaml: "0X8", value: 8 },
    { yaml: "0B11", value: 3 },
    { yaml: "0b11", value: 3 },
    { yaml: "0x1f", value: 31 },
    { yaml: "010", value: 8 },
    { yaml: "!!float 1", value: 1 },
    { yaml: "!!binary aGk=", value: "hi" },
    { yaml: "._1", value: "._1" },
    { yaml: "1_0e1_", value: 100 },
    { yaml: "+_0b1", value: 1 },
    { yaml: "-_.5", value: -0.5 },
    { yaml: "0_10", value: 8 },
    { yaml: "a? b", value: "a? b" },
    { yaml: String.raw`"\\ud800"`, value: String.raw`\ud800` },
    { yaml: '{"a":yes,"b":-1}', value: { a: true, b: -1 } },
    { yaml: ".5_", value: ".5_" },
    { yaml: ".5_1", value: 0.51 },
    { yaml: "!!omap [{a: 1}]", value: [{ a: 1 }] },
  ])("reads $yaml as kubectl does", ({ yaml, value }) => {
    const { manifests, problems } = parseManifests(`${head}value: ${yaml}\n`, "f");
    expect(problems).toEqual([]);
    expect(manifests[0]?.object["value"]).toEqual(value);
  });

  it.each([
    ...[
      "{[a]: b}",
      "{null: b}",
      "{: b}",
      "{{a: b}: x}",
      '{{a: b}:"x"}',
      '{["a"]:1}',
      "{~: b}",
      ".inf",
      "-.Inf",
      ".nan",
    ],
    ...[
      "{a:{b: c}}",
      '{a":{b: c}}',
      '&a" b',
      "{a, ~}",
      "{a: b? c}",
      "!!inte 1",
      String.raw`"\ud800"`,
      String.raw`"\ud83d\ude00"`,
      "!#a b",
      '{:"a"}',
      "!!int a",
      "!!bool 1",
      "!!null a",
      "!!float a",
      "!!binary aGk",
    ],
  ])("refuses %s, which kubectl refuses, too, and keeps other objects", (yaml) => {
    const { manifests, problems } = parseManifests(`${head}value: ${yaml}\n---\n${head}`, "f");
    expect(problems).toHaveLength(1);
    expect(manifests).toHaveLength(1);
    const alone = parseManifests(`${head}value: ${yaml}\n`, "f");
    expect([alone.manifests.length, alone.problems.length]).toEqual([0, 1]);
  });

  it.each(["\u0001", "\u007f", "\u009b", "\ufffe"])("refuses the control character %j, with its line", (character) => {
    expect(parseManifests(`${head}value: a${character}b\n`, "f")).toEqual({
      manifests: [],
      problems: ["f:4: control characters are not allowed in YAML"],
    });
  });

  it.each([101, 3_000, 20_000, 300_000])("refuses an object with %i levels, and keeps other objects", (levels) => {
    const deep = `${"[".repeat(levels)}${"]".repeat(levels)}`;
    const node = (name: string, more: string) =>
      `{"apiVersion":"v1","kind":"Node","metadata":{"name":"${name}"${more}}}`;
    const list = `{"apiVersion":"v1","kind":"List","items":[${node("a", `,"annotations":{"a":${deep}}`)},${node("b", "")}]}`;
    const { manifests, problems } = parseManifests(list, "f");
    expect(manifests.map(({ name }) => name)).toEqual(["b"]);
    expect(problems).toEqual(["f:1: the object has more than 100 levels of nesting"]);
    const yaml = parseManifests(`${head}a: ${deep}\n`, "f");
    expect(yaml.manifests).toEqual([]);
    expect(yaml.problems[0]).toMatch(/levels of nesting$/);
  });

  it("reports the place of each error and keeps the other documents", () => {
    const { manifests, problems } = parseManifests(`${head}---\na: [1\n---\nkind: Node\n---\n${head}`, "f.yaml");
    expect(manifests).toHaveLength(2);
    expect(problems.map((problem) => problem.slice(0, 9))).toEqual(["f.yaml:6:", "f.yaml:7:"]);
  });

  it("limits the expansion of aliases", () => {
    const layers = Array.from(
      { length: 12 },
      (_, i) => `l${i + 1}: &l${i + 1} [${Array(12).fill(`*l${i}`).join(", ")}]`,
    );
    const { problems } = parseManifests(`${head}l0: &l0 [x]\n${layers.join("\n")}\n`, "f.yaml");
    expect(problems).toEqual([expect.stringContaining("alias")]);
  });

  it("returns a result for any text", () => {
    const pieces = fc.constantFrom(
      "---\n",
      "a: ",
      "- ",
      "{",
      "}",
      "[",
      "]",
      '"',
      "&a ",
      "*a",
      "!!set ",
      "|\n",
      "\n",
      "  ",
      "__proto__: ",
      "<<: ",
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(fc.oneof(pieces, fc.string({ maxLength: 3 }))).map((all) => all.join("")),
    );
    const answers = fc.property(text, (any) => {
      const { manifests, problems } = parseManifests(any, "f");
      expect([manifests, problems]).toEqual([expect.any(Array), expect.any(Array)]);
    });
    fc.assert(answers, { numRuns: 1000 });
  });
});
