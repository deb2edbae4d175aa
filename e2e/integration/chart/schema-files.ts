// SPDX-License-Identifier: Apache-2.0
/**
 * writeSchemaFiles writes a JSON schema for each kind that an API server knows, as kubeconform reads them. They are strict:
 * an object with a field that its kind does not have is not valid.
 */
import { isRecord } from "@switchyard/kube";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fieldAt } from "../../src/api/plain-api.ts";

type Definitions = ReadonlyMap<string, unknown>;

/** Name of a kind's file, in the syntax of kubeconform's -schema-location. Its group of core kinds is their version. */
export const schemaFileName = "{{ .Group }}_{{ .ResourceAPIVersion }}_{{ .ResourceKind }}.json";

/** `openApi` is the document /openapi/v2. Returns the number of kinds. */
export async function writeSchemaFiles(openApi: unknown, directory: string): Promise<number> {
  const all = fieldAt(openApi, "definitions");
  const definitions = new Map(Object.entries(isRecord(all) ? all : {}).map(([name, schema]) => [name, strict(schema)]));
  await mkdir(directory, { recursive: true });
  const kinds = [...definitions].flatMap(([name, schema]) => {
    const kind = fieldAt(schema, "x-kubernetes-group-version-kind", 0);
    return isRecord(kind) ? [{ name, file: fileOf(kind) }] : [];
  });
  for (const { name, file } of kinds) {
    const used = Object.fromEntries([...usedBy(name, definitions)].map((each) => [each, definitions.get(each)]));
    await writeFile(join(directory, file), JSON.stringify({ $ref: `#/definitions/${name}`, definitions: used }));
  }
  return kinds.length;
}

function fileOf({ group, version, kind }: Readonly<Record<string, unknown>>): string {
  return `${String(group === "" ? version : group)}_${String(version)}_${String(kind).toLowerCase()}.json`;
}

/** The definition and all that it refers to. */
function usedBy(name: string, definitions: Definitions, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, next = ""] of JSON.stringify(definitions.get(name)).matchAll(/"#\/definitions\/([^"]+)"/g)) {
    usedBy(next, definitions, found);
  }
  return found;
}

/** Forbids unknown fields, and allows what OpenAPI cannot express: numbers as IntOrString and as quantities. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (!isRecord(schema)) return schema;
  const { type, format, properties, ...rest } = schema;
  const parts = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, strict(value)]));
  const isText = type === "string" && (format === undefined || format === "int-or-string");
  const isClosed = isRecord(properties) && schema["x-kubernetes-preserve-unknown-fields"] !== true;
  return {
    ...(isClosed && { additionalProperties: false }),
    ...parts,
    ...(typeof type === "string" && { type: isText ? ["string", "number"] : type }),
    ...(isRecord(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, strict(value)])),
    }),
  };
}
