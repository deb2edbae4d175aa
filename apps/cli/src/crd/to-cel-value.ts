// SPDX-License-Identifier: Apache-2.0
/**
 * toCelValue converts JSON to the values of CEL rules: whole numbers are of type int, and objects with additionalProperties
 * are maps.
 * Usage: `toCelValue(object["spec"], schema.properties?.["spec"] ?? {})`.
 */
import type { StructuralSchema } from "@switchyard/api";
import { isJsonObject } from "../json.ts";

/** `value` must fit the schema. */
export function toCelValue(value: unknown, schema: StructuralSchema): unknown {
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
