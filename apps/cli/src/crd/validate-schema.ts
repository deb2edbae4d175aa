// SPDX-License-Identifier: Apache-2.0
/**
 * validateSchema validates a value against a schema as the API server does (k8s.io/kube-openapi, pkg/validation/validate).
 */
import type { StructuralSchema } from "@switchyard/api";
import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject } from "../json.ts";
import { fieldProblem, type FieldProblem } from "./field-problem.ts";

export interface Place {
  /** Path of the value; "" for the whole object. */
  readonly path: string;
  /** The stored value in an update. An unchanged value is not refused. */
  readonly old?: unknown;
}

export function validateSchema(value: unknown, schema: StructuralSchema, place: Place): readonly FieldProblem[] {
  if (place.old !== undefined && isDeepStrictEqual(value, place.old)) return [];
  const problems = typeProblems(value, schema, place.path);
  if (problems.length > 0) return problems;
  if (typeof value === "string") return textProblems(value, schema, place.path);
  if (typeof value === "number") return numberProblems(value, schema, place.path);
  if (Array.isArray(value)) return listProblems(value, schema, place);
  return isJsonObject(value) ? mapProblems(value, schema, place) : [];
}

function typeProblems(value: unknown, schema: StructuralSchema, path: string): readonly FieldProblem[] {
  const type = typeOf(value);
  const wrongType = (expected: string): FieldProblem => {
    const detail = `${path} in body must be of type ${expected}: ${JSON.stringify(type)}`;
    return fieldProblem("FieldValueTypeInvalid", path, { value: type, detail });
  };
  if (schema["x-kubernetes-int-or-string"] === true) {
    if (type === "integer" || type === "string") return [];
    const noneOf = { value: "", detail: `${JSON.stringify(path)} must validate at least one schema (anyOf)` };
    return [
      wrongType("integer,string"),
      fieldProblem("FieldValueInvalid", "<nil>", noneOf),
      wrongType("integer"),
      ...fraction(type, path),
    ];
  }
  if (type === schema.type) return [];
  const { type: expected = "" } = schema;
  return [
    wrongType(expected),
    ...(expected === "integer" ? fraction(type, path) : []),
    ...(schema.enum === undefined ? [] : [notOneOf(schema.enum, value, path)]),
  ];
}

/** A second problem that the API server reports for a fraction in place of an integer. */
function fraction(type: string, path: string): readonly FieldProblem[] {
  if (type !== "number") return [];
  const detail = `Checked value must be of type integer (default format) in ${path}`;
  return [fieldProblem("FieldValueInvalid", "<nil>", { value: "", detail })];
}

function notOneOf(choices: readonly string[], value: unknown, path: string): FieldProblem {
  const detail = `supported values: ${choices.map((choice) => JSON.stringify(choice)).join(", ")}`;
  return fieldProblem("FieldValueNotSupported", path, { value, detail });
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function textProblems(value: string, schema: StructuralSchema, path: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const { length } = Array.from(value); // code points, as Go counts runes
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    problems.push(
      fieldProblem("FieldValueTooLong", path, { detail: `may not be more than ${schema.maxLength} bytes` }),
    );
  }
  if (schema.minLength !== undefined && length < schema.minLength) {
    const detail = `${path} in body should be at least ${schema.minLength} chars long`;
    problems.push(fieldProblem("FieldValueInvalid", path, { value, detail }));
  }
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, "u").test(value)) {
    const detail = `${path} in body should match '${schema.pattern}'`;
    problems.push(fieldProblem("FieldValueInvalid", path, { value, detail }));
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) problems.push(notOneOf(schema.enum, value, path));
  if (schema.format === "date-time" && !dateTime.test(value)) {
    const detail = `${path} in body must be of type date-time: ${JSON.stringify(value)}`;
    problems.push(fieldProblem("FieldValueInvalid", path, { value, detail }));
  }
  return problems;
}

const dateTime = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

function numberProblems(value: number, schema: StructuralSchema, path: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (schema.maximum !== undefined && value > schema.maximum) {
    const detail = `${path} in body should be less than or equal to ${schema.maximum}`;
    problems.push(fieldProblem("FieldValueInvalid", path, { value, detail }));
  }
  if (schema.minimum !== undefined && value < schema.minimum) {
    const detail = `${path} in body should be greater than or equal to ${schema.minimum}`;
    problems.push(fieldProblem("FieldValueInvalid", path, { value, detail }));
  }
  return problems;
}

function listProblems(list: readonly unknown[], schema: StructuralSchema, place: Place): readonly FieldProblem[] {
  const { path, old } = place;
  const problems: FieldProblem[] = [];
  if (schema.maxItems !== undefined && list.length > schema.maxItems) {
    const detail = `must have at most ${schema.maxItems} items`;
    problems.push(fieldProblem("FieldValueTooMany", path, { value: list.length, detail }));
  }
  if (schema.minItems !== undefined && list.length < schema.minItems) {
    const detail = `${path} in body should have at least ${schema.minItems} items`;
    problems.push(fieldProblem("FieldValueInvalid", path, { value: list, detail }));
  }
  if (schema.items !== undefined) {
    for (const [index, item] of list.entries()) {
      const before = oldItem(item, schema, old);
      problems.push(...validateSchema(item, schema.items, { path: `${path}[${index}]`, old: before }));
    }
  }
  return [...problems, ...repeatedKeys(list, schema, path)];
}

/** Returns the old item with the same keys. Only items of lists of type "map" have keys. */
export function oldItem(item: unknown, schema: StructuralSchema, old: unknown): unknown {
  if (schema["x-kubernetes-list-type"] !== "map" || !Array.isArray(old)) return undefined;
  const key = keyOf(item, schema);
  return old.find((candidate: unknown) => isDeepStrictEqual(keyOf(candidate, schema), key));
}

function repeatedKeys(list: readonly unknown[], schema: StructuralSchema, path: string): readonly FieldProblem[] {
  if (schema["x-kubernetes-list-type"] !== "map") return [];
  const seen = new Set<string>();
  return list.flatMap((item, index) => {
    const value = keyOf(item, schema);
    const text = JSON.stringify(value);
    const isRepeated = seen.has(text);
    seen.add(text);
    return isRepeated ? [fieldProblem("FieldValueDuplicate", `${path}[${index}]`, { value })] : [];
  });
}

function keyOf(item: unknown, schema: StructuralSchema): JsonObject {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  return Object.fromEntries(isJsonObject(item) ? keys.map((key) => [key, item[key]]) : []);
}

function mapProblems(value: JsonObject, schema: StructuralSchema, place: Place): readonly FieldProblem[] {
  const { properties = {}, additionalProperties, required = [], maxProperties } = schema;
  const { path, old } = place;
  const problems: FieldProblem[] = [];
  const at = (key: string): string => (path === "" ? key : `${path}.${key}`);
  const keys = Object.keys(value);
  if (maxProperties !== undefined && keys.length > maxProperties) {
    const detail = `must have at most ${maxProperties} items`;
    problems.push(fieldProblem("FieldValueTooMany", path, { value: keys.length, detail }));
  }
  for (const key of required) {
    if (!Object.hasOwn(value, key)) problems.push(fieldProblem("FieldValueRequired", at(key)));
  }
  for (const key of keys) {
    const member = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
    if (member === undefined) continue;
    const before = isJsonObject(old) && Object.hasOwn(old, key) ? old[key] : undefined;
    problems.push(...validateSchema(value[key], member, { path: at(key), old: before }));
  }
  return problems;
}
