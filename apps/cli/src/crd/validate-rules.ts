// SPDX-License-Identifier: Apache-2.0
/**
 * validateRules checks the CRD's rules (x-kubernetes-validations, in CEL) for an object that fits the schema
 * (k8s.io/apiextensions-apiserver, pkg/apiserver/schema/cel). The cost of rules is not limited: the CRDs limit the size of all
 * values that their rules use, and the API server has accepted them.
 */
import { Environment, Optional, type ParseResult } from "@marcbachmann/cel-js";
import type { StructuralSchema, ValidationRule } from "@switchyard/api";
import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "../json.ts";
import { fieldProblem, type FieldProblem } from "./field-problem.ts";
import { oldItem, type Place } from "./validate-schema.ts";

export function validateRules(value: unknown, schema: StructuralSchema, place: Place): readonly FieldProblem[] {
  if (!hasRules(schema)) return [];
  return [...ownProblems(value, schema, place), ...memberProblems(value, schema, place)];
}

function ownProblems(value: unknown, schema: StructuralSchema, place: Place): readonly FieldProblem[] {
  const rules = schema["x-kubernetes-validations"] ?? [];
  if (rules.length === 0) return [];
  const isUnchanged = place.old !== undefined && isDeepStrictEqual(value, place.old);
  const self = toCelValue(value, schema);
  const old = place.old === undefined ? undefined : toCelValue(place.old, schema);
  return rules.flatMap((rule) => {
    // A rule with optionalOldSelf decides itself which existing values it tolerates.
    if (isUnchanged && rule.optionalOldSelf !== true) return [];
    const oldSelf = rule.optionalOldSelf === true ? { oldSelf: Optional.of(old) } : {};
    const violation = violationOf(rule, { self, ...oldSelf });
    if (violation === undefined) return [];
    const field = joinPath(place.path, rule.fieldPath ?? "");
    // The message repeats the value only if it is the rule's own scalar.
    const isShown = rule.fieldPath === undefined && (typeof value !== "object" || value === null);
    return [fieldProblem(rule.reason ?? "FieldValueInvalid", field, { ...(isShown && { value }), detail: violation })];
  });
}

function memberProblems(value: unknown, schema: StructuralSchema, place: Place): readonly FieldProblem[] {
  const { path, old } = place;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return [];
    return value.flatMap((item: unknown, index) =>
      validateRules(item, items, { path: `${path}[${index}]`, old: oldItem(item, schema, old) }),
    );
  }
  if (!isJsonObject(value)) return [];
  const { properties = {}, additionalProperties } = schema;
  return Object.entries(value).flatMap(([key, member]) => {
    const before = isJsonObject(old) && Object.hasOwn(old, key) ? old[key] : undefined;
    if (Object.hasOwn(properties, key)) {
      return validateRules(member, properties[key] ?? {}, { path: joinPath(path, `.${key}`), old: before });
    }
    return validateRules(member, additionalProperties ?? {}, { path: `${path}[${key}]`, old: before });
  });
}

/** The message of a violated rule; undefined if the rule holds. */
function violationOf(rule: ValidationRule, context: Readonly<Record<string, unknown>>): string | undefined {
  const message = rule.message ?? `failed rule: ${rule.rule}`;
  try {
    const holds: unknown = compile(rule.rule)(context);
    if (holds === true) return undefined;
    const text: unknown = rule.messageExpression === undefined ? undefined : compile(rule.messageExpression)(context);
    return typeof text === "string" ? text : message;
  } catch (cause) {
    if (!isEvaluationError(cause)) throw cause;
    return `${cause.summary} evaluating rule: ${message}`;
  }
}

function isEvaluationError(error: unknown): error is { readonly summary: string } {
  return isJsonObject(error) && error["name"] === "EvaluationError" && typeof error["summary"] === "string";
}

const environment = new Environment({ enableOptionalTypes: true })
  .registerVariable("self", "dyn")
  .registerVariable("oldSelf", "dyn");
const compiled = new Map<string, ParseResult>();

function compile(expression: string): ParseResult {
  const known = compiled.get(expression) ?? environment.parse(expression);
  compiled.set(expression, known);
  return known;
}

const withRules = new WeakMap<StructuralSchema, boolean>();

/** Whether the schema or a part of it has rules. Most parts of a node state have none and are skipped. */
function hasRules(schema: StructuralSchema): boolean {
  const known = withRules.get(schema);
  if (known !== undefined) return known;
  const { properties = {}, additionalProperties, items } = schema;
  const members = [...Object.values(properties), additionalProperties, items].filter((member) => member !== undefined);
  const found = (schema["x-kubernetes-validations"] ?? []).length > 0 || members.some(hasRules);
  withRules.set(schema, found);
  return found;
}

/** `more` begins with a dot. */
function joinPath(path: string, more: string): string {
  return path === "" ? more.slice(1) : `${path}${more}`;
}

/**
 * toCelValue converts JSON to the values of CEL rules: whole numbers are of type int, and objects with additionalProperties
 * are maps.
 * `value` must fit the schema.
 */
function toCelValue(value: unknown, schema: StructuralSchema): unknown {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) {
    const { items = {} } = schema;
    return value.map((item: unknown) => toCelValue(item, items));
  }
  if (!isJsonObject(value)) return value;
  const { properties = {}, additionalProperties } = schema;
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => [
    key,
    toCelValue(member, (Object.hasOwn(properties, key) ? properties[key] : additionalProperties) ?? {}),
  ]);
  // A Map, because users choose the keys: "__proto__" must be a key like any other.
  return additionalProperties === undefined ? Object.fromEntries(entries) : new Map(entries);
}
