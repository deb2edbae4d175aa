// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { schemas, type StructuralSchema } from "@switchyard/api";
import { findStale, generate, write, type Outputs } from "./outputs.ts";

const root = join(__dirname, "../../..");

describe("the committed files", () => {
  it("are equal to the output of `npm run generate`", () => {
    expect(findStale(root, generate(root))).toEqual([]);
  }, 60_000);

  it.each(Object.entries(schemas))(
    "hold a structural schema of %s, in which each field is described",
    (kind, schema) => {
      expect(findFaults(kind, schema)).toEqual([]);
    },
  );
});

describe("findStale and write", () => {
  const crd = "charts/switchyard/crds/example.com_things.yaml";
  const outputs: Outputs = new Map([[crd, "a: 1\n"]]);
  let folder = "";

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "generate-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it("return missing and changed files, and none that was written", () => {
    expect(findStale(folder, outputs)).toEqual([crd]);
    write(folder, outputs);
    expect(findStale(folder, outputs)).toEqual([]);
    writeFileSync(join(folder, crd), "a: 2\n");
    expect(findStale(folder, outputs)).toEqual([crd]);
  });

  it("remove the CRD of a kind that no longer exists, but no CRD that was not generated", () => {
    write(folder, outputs);
    const [[, generated] = ["", ""]] = [...generate(root)].filter(([path]) => path.endsWith(".yaml"));
    const gone = "charts/switchyard/crds/example.com_gone.yaml";
    const foreign = "charts/switchyard/crds/k8s.cni.cncf.io_nads.yaml";
    writeFileSync(join(folder, gone), generated);
    writeFileSync(join(folder, foreign), "kind: CustomResourceDefinition\n");
    expect(findStale(folder, outputs)).toEqual([gone]);
    write(folder, outputs);
    expect(findStale(folder, outputs)).toEqual([]);
    expect(() => readFileSync(join(folder, gone))).toThrow(expect.objectContaining({ code: "ENOENT" }));
    expect(readFileSync(join(folder, foreign), "utf8")).toBe("kind: CustomResourceDefinition\n");
  }, 60_000);
});

/** What keeps a schema from being structural, or a reader from understanding a field. */
function findFaults(at: string, schema: StructuralSchema): string[] {
  const { type, properties, additionalProperties, items, required = [], description } = schema;
  const isMetadata = at.endsWith(".metadata");
  const isItem = at.endsWith("[]") || at.endsWith(".*"); // described by its list or map
  const rules: readonly (readonly [boolean, string])[] = [
    [(type === undefined) === (schema["x-kubernetes-int-or-string"] === true), "has a type or is int-or-string"],
    [(type === "array") === (items !== undefined), "has items if it is a list"],
    [
      type !== "object" || isMetadata || (properties === undefined) !== (additionalProperties === undefined),
      "has fields or values",
    ],
    [required.every((name) => properties?.[name] !== undefined), "requires only what it has"],
    [
      (schema["x-kubernetes-list-type"] === "map") === (schema["x-kubernetes-list-map-keys"] !== undefined),
      "has keys if it is a map",
    ],
    [(schema["x-kubernetes-list-map-keys"] ?? []).every((key) => items?.required?.includes(key)), "requires its keys"],
    [isMetadata || isItem || (description?.endsWith(".") ?? false), "is described by a sentence"],
    [!("$ref" in schema) && !("oneOf" in schema) && !("allOf" in schema), "has no references and no alternatives"],
  ];
  return [
    ...rules.filter(([holds]) => !holds).map(([, rule]) => `${at}: ${rule}`),
    ...Object.entries(properties ?? {}).flatMap(([name, field]) => findFaults(`${at}.${name}`, field)),
    ...(items === undefined ? [] : findFaults(`${at}[]`, items)),
    ...(additionalProperties === undefined ? [] : findFaults(`${at}.*`, additionalProperties)),
  ];
}
