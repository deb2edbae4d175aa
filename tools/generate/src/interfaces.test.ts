// SPDX-License-Identifier: Apache-2.0
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readInterfaces } from "./outputs.ts";

const source = `
/** A thing of the API. */
export interface Thing extends Meta {
  /**
   * What is wanted,
   * in two lines.
   * @default { size: 1 }
   */
  readonly spec: ThingSpec;
}
interface Meta { readonly apiVersion: "v1"; readonly kind: "Thing"; readonly metadata: { readonly name: string } }
interface ThingSpec {
  /**
   * How big.
   * @asType integer
   * @minimum 0
   */
  readonly size: number;
  /** Words. */
  readonly words?: Readonly<Record<string, "on" | "off">>;
  /**
   * Parts by name.
   * @x-kubernetes-list-type map
   * @x-kubernetes-list-map-keys ["name"]
   */
  readonly parts?: readonly Part[];
  /**
   * The rule of the field.
   * @x-kubernetes-validations [{ rule: "self != 'x'", message: "is not x" }]
   */
  readonly ruled?: string;
}
/** A part. */
interface Part {
  /** Its name. */
  readonly name: string;
}
export interface Wrong { readonly spec: { readonly size: number } }
`;

describe("readInterfaces", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "interfaces-"));
    writeFileSync(join(folder, "thing.ts"), source);
    const compilerOptions = { strict: true, target: "es2024", types: [] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it("converts an interface with its JSDoc and tags", () => {
    const schemaOf = readInterfaces(join(folder, "thing.ts"), join(folder, "tsconfig.json"));
    expect(schemaOf("Thing")).toMatchObject({
      type: "object",
      description: "A thing of the API.",
      properties: {
        metadata: { type: "object" },
        spec: {
          type: "object",
          description: "What is wanted, in two lines.",
          default: { size: 1 },
          required: ["size"],
          properties: {
            size: { type: "integer", minimum: 0, description: "How big." },
            words: { type: "object", additionalProperties: { type: "string", enum: ["on", "off"] } },
            parts: {
              type: "array",
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["name"],
              items: { type: "object", required: ["name"], properties: { name: { description: "Its name." } } },
            },
            ruled: {
              type: "string",
              "x-kubernetes-validations": [
                {
                  rule: "(self != 'x') || (oldSelf.hasValue() && oldSelf.value() == self)",
                  message: "is not x",
                },
              ],
            },
          },
        },
      },
    });
    expect(() => schemaOf("Wrong")).toThrow('Wrong.spec.size has the unsupported type "number"; add @asType integer');
  }, 60_000);
});
