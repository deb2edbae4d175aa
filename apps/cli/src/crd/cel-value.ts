// SPDX-License-Identifier: Apache-2.0
/**
 * JSON as rules see it: whole numbers are CEL's int, objects with a schema for any key are maps.
 * Usage: `toCelValue(object.spec, schema.properties.spec)`.
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
  // A map, since its keys are the user's: "__proto__" is one like others.
  return additionalProperties === undefined ? Object.fromEntries(entries) : new Map(entries);
}
