// SPDX-License-Identifier: Apache-2.0
/**
 * Parses and checks the JSON of records.
 * Usage: `const parsed = parseJson(text); if (parsed.ok && isFields(parsed.value) && have(parsed.value, "number", ["mtu"])) { }`.
 */
import { err, ok, type Result } from "@switchyard/api";

/** Why a text is not a record: it is not JSON, or the JSON is not that of a record. */
export interface RecordProblem {
  readonly code: "not-json" | "not-a-record";
}

export type Fields = Readonly<Record<string, unknown>>;

export function parseJson(text: string): Result<unknown, RecordProblem> {
  try {
    const value: unknown = JSON.parse(text);
    return ok(value);
  } catch {
    return err({ code: "not-json" });
  }
}

/** Reports whether the value is an object with fields. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reports whether each of `keys` is absent or has this type. */
export function have(value: Fields, type: "string" | "number" | "boolean", keys: readonly string[]): boolean {
  return keys.every((key) => value[key] === undefined || typeof value[key] === type);
}

/** Reports whether the value is absent or a list of values of this type. */
export function isListOf(value: unknown, type: "string" | "number"): boolean {
  return value === undefined || (Array.isArray(value) && value.every((one) => typeof one === type));
}
