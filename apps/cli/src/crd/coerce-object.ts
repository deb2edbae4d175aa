// SPDX-License-Identifier: Apache-2.0
/**
 * coerceObject does what the API server does with an object before it validates it: it removes fields that are not in the
 * schema and nulls, and fills in defaults (k8s.io/apiextensions-apiserver, pkg/apiserver/schema: pruning, defaulting).
 */
import type { StructuralSchema } from "@switchyard/api";
import { isJsonObject, type JsonObject } from "../json.ts";

export interface Coerced {
  readonly value: JsonObject;
  /** Paths of the removed fields. kubectl asks the server to refuse objects with unknown fields. */
  readonly unknownFields: readonly string[];
}

/** `schema` is the schema of a whole object. apiVersion, kind and metadata are not changed. */
export function coerceObject(object: JsonObject, schema: StructuralSchema): Coerced {
  const unknownFields: string[] = [];
  const { apiVersion, kind, metadata, ...fields } = object;
  const coerced = coerce(fields, schema, "", unknownFields);
  const meta = { apiVersion, kind, metadata };
  return { value: isJsonObject(coerced) ? { ...meta, ...coerced } : meta, unknownFields };
}

function coerce(value: unknown, schema: StructuralSchema, path: string, unknownFields: string[]): unknown {
  if (Array.isArray(value)) {
    const items = schema.items;
    if (items === undefined) return value;
    return value.map((item: unknown, index) => coerce(item, items, `${path}[${index}]`, unknownFields));
  }
  return isJsonObject(value) ? coerceMap(value, schema, path, unknownFields) : value;
}

function coerceMap(value: JsonObject, schema: StructuralSchema, path: string, unknownFields: string[]): JsonObject {
  const { properties = {}, additionalProperties } = schema;
  // Entries, because assigning to the key "__proto__" of an object would set its prototype.
  const entries: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    const memberSchema = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
    const memberPath = path === "" ? key : `${path}.${key}`;
    if (memberSchema === undefined) unknownFields.push(memberPath);
    else if (member !== null) entries.push([key, coerce(member, memberSchema, memberPath, unknownFields)]);
    else if (memberSchema.default !== undefined) entries.push([key, defaultOf(memberSchema)]);
  }
  for (const [key, memberSchema] of Object.entries(properties)) {
    if (memberSchema.default !== undefined && !Object.hasOwn(value, key)) entries.push([key, defaultOf(memberSchema)]);
  }
  return Object.fromEntries(entries);
}

/** Defaults are filled into a default, too. */
function defaultOf(schema: StructuralSchema): unknown {
  return coerce(schema.default, schema, "", []);
}
