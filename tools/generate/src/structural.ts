// SPDX-License-Identifier: Apache-2.0
/**
 * toStructural converts a schema of ts-json-schema-generator to a structural schema, the only form that a CRD accepts:
 * without $ref, without additionalProperties next to properties, and with a type for each value. Keywords that cannot
 * be converted are errors that name the field; nothing is dropped silently.
 *
 * Tags in the JSDoc of interfaces are those of JSON schema (`@minimum 0`, `@default netdevice`, `@format int64`) and
 * `@deprecated`. Numbers must have `@asType integer`, because Kubernetes APIs have no fractions. `@x-kubernetes-…` tags
 * are copied (validation-rules.ts converts rules). `@openEnum` lists the values in the description only: upstream's CRD
 * accepts any value, and stored objects may have others.
 */
import type { StructuralSchema } from "@switchyard/api";
import { GenerateError } from "./generate-error.ts";
import { isObject, isTextList, toValidationRules } from "./validation-rules.ts";
import { tolerateOldValues } from "./tolerate-old-values.ts";

/** JSDoc tags that ts-json-schema-generator does not support by default. */
export const extraTags = [
  "openEnum",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-validations",
];

/**
 * Returns the schema of a kind. `json` is the schema of an interface with apiVersion, kind, metadata, spec and status.
 */
export function toObjectSchema(kind: string, json: unknown): StructuralSchema {
  const { properties, ...root } = toStructural(kind, withoutTypeMeta(kind, json));
  const { spec, ...others } = properties ?? {};
  return {
    ...root,
    properties: {
      apiVersion: { type: "string", description: "Group and version of the API that the object is written in." },
      kind: { type: "string", description: "Kind of the object." },
      metadata: { type: "object" }, // the API server validates metadata itself
      ...(spec && { spec: tolerateOldValues(spec) }),
      ...others,
    },
  };
}

/** Returns the schema of a value. `at` is the path of the field, for errors. */
export function toStructural(at: string, json: unknown): StructuralSchema {
  if (!isObject(json)) throw new GenerateError("NOT_STRUCTURAL", at, "has no schema");
  const { type, description, deprecated, openEnum, required, properties, items, additionalProperties, ...more } = json;
  const { "x-kubernetes-validations": rules, ...rest } = more;
  const all = [
    ...(typeof description === "string" ? [description] : []),
    ...(openEnum === undefined ? [] : [`Known values: ${enumOf(at, rest.enum).join(", ")}.`]),
    ...(deprecated === undefined ? [] : ["Deprecated."]),
  ];
  return {
    ...(all.length > 0 && { description: all.join(" ") }),
    ...typeOf(at, type),
    ...facetsOf(at, openEnum === undefined ? rest : { ...rest, enum: undefined }),
    ...(isObject(properties) && membersOf(at, properties, required)),
    ...(items !== undefined && { items: toStructural(`${at}[]`, items) }),
    ...mapOf(at, additionalProperties),
    ...(rules !== undefined && { "x-kubernetes-validations": toValidationRules(at, rules) }),
  };
}

/**
 * Throws GenerateError for a field without a description: it would be an empty line in the CRD, in `kubectl explain` and in docs/api.
 * Metadata has none, because the API server describes it.
 */
export function requireDescriptions(at: string, schema: StructuralSchema): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const path = `${at}.${name}`;
    if (name === "metadata") continue;
    if ((field.description ?? "") === "") {
      throw new GenerateError(
        "NO_TEXT",
        path,
        "has no comment that says what it means: write JSDoc above the field in libs/api/src",
      );
    }
    requireDescriptions(path, field);
    if (field.items !== undefined) requireDescriptions(`${path}[]`, field.items);
    if (field.additionalProperties !== undefined) requireDescriptions(`${path}.*`, field.additionalProperties);
  }
}

const typeMeta = new Set(["apiVersion", "kind", "metadata"]);

function withoutTypeMeta(kind: string, json: unknown): unknown {
  if (!isObject(json) || !isObject(json.properties))
    throw new GenerateError("NOT_STRUCTURAL", kind, "is not an interface");
  const schema = Object.entries(json).filter(([keyword]) => keyword !== "$schema" && keyword !== "definitions");
  const properties = Object.entries(json.properties).filter(([name]) => !typeMeta.has(name));
  const required = isTextList(json.required) ? json.required.filter((name) => !typeMeta.has(name)) : [];
  return { ...Object.fromEntries(schema), required, properties: Object.fromEntries(properties) };
}

/** Fields with a default are not required, because the API server sets defaults before validation. */
function membersOf(at: string, properties: Readonly<Record<string, unknown>>, required: unknown): StructuralSchema {
  const entries = Object.entries(properties).map(
    ([name, json]) => [name, toStructural(`${at}.${name}`, json)] as const,
  );
  const schemas = new Map(entries);
  const wanted = isTextList(required) ? required.filter((name) => schemas.get(name)?.default === undefined) : [];
  return { ...(wanted.length > 0 && { required: wanted }), properties: Object.fromEntries(entries) };
}

const types = ["object", "array", "string", "integer", "boolean"] as const;

function typeOf(at: string, type: unknown): StructuralSchema {
  if (Array.isArray(type) && type.length === 2 && type.includes("string") && type.includes("number")) {
    return { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] };
  }
  const known = types.find((one) => one === type);
  if (known !== undefined) return { type: known };
  const advice = type === "number" ? "; add @asType integer" : "";
  throw new GenerateError("NOT_STRUCTURAL", at, `has the unsupported type ${JSON.stringify(type)}${advice}`);
}

/** Returns additionalProperties for a Record. An interface has none; the API server prunes its unknown members. */
function mapOf(at: string, additional: unknown): StructuralSchema {
  return isObject(additional) ? { additionalProperties: toStructural(`${at}.*`, additional) } : {};
}

/** Keywords that are copied, with checks of their values. */
const facets: Readonly<Record<string, (value: unknown) => boolean>> = {
  default: () => true,
  enum: isTextList,
  format: isText,
  pattern: isText,
  minimum: Number.isInteger,
  maximum: Number.isInteger,
  minLength: Number.isInteger,
  maxLength: Number.isInteger,
  minItems: Number.isInteger,
  maxItems: Number.isInteger,
  maxProperties: Number.isInteger,
  "x-kubernetes-list-type": (value) => value === "atomic" || value === "map" || value === "set",
  "x-kubernetes-list-map-keys": isTextList,
  "x-kubernetes-map-type": (value) => value === "atomic" || value === "granular",
};

function facetsOf(at: string, rest: Readonly<Record<string, unknown>>): StructuralSchema {
  const kept: Record<string, unknown> = {};
  const given = "const" in rest ? { ...rest, enum: [rest.const], const: undefined } : rest;
  for (const [keyword, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (facets[keyword]?.(value) !== true) {
      throw new GenerateError(
        "NOT_STRUCTURAL",
        at,
        `has ${keyword} ${JSON.stringify(value)}, which is not supported in a CRD`,
      );
    }
    kept[keyword] = value;
  }
  return kept;
}

function enumOf(at: string, values: unknown): readonly string[] {
  if (isTextList(values)) return values;
  throw new GenerateError("NOT_STRUCTURAL", at, "has @openEnum, but is not a union of string literals");
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
