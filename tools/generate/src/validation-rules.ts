// SPDX-License-Identifier: Apache-2.0
/**
 * The rules of a schema in the Common Expression Language, as JSDoc has them and as a CRD takes them. In JSDoc a rule may
 * name the `fields` that it judges: `{ rule: "…", message: "…", fields: ["isRdma", "deviceType"] }`.
 *
 * A stored object that breaks a rule, since the rule is newer than the object, can still be updated. Where the rule stands
 * on the value that it judges, the API server sees to that: it forgives what did not change. A rule over several fields
 * stands above them, where something else always changes; with `fields` it forgives if none of these did. Both need
 * Kubernetes 1.30 or later.
 */
import type { ValidationRule } from "@switchyard/api";
import { GenerateError } from "./generate-error.ts";
import { isObject, isTextList } from "./json.ts";

/** `at` is the path of the schema that has the rules, for errors. */
export function toValidationRules(at: string, json: unknown): readonly ValidationRule[] {
  if (!Array.isArray(json)) throw refuse(at, json);
  return json.map((entry: unknown) => toRule(at, entry));
}

const reasons = ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"] as const;

function toRule(at: string, entry: unknown): ValidationRule {
  if (!isObject(entry)) throw refuse(at, entry);
  const { rule, message, fieldPath, reason, fields, ...unknown } = entry;
  const knownReason = reasons.find((one) => one === reason);
  if (
    !isText(rule) ||
    !isText(message) || // without one the user would be shown the expression
    (fieldPath !== undefined && !isText(fieldPath)) ||
    (reason !== undefined && knownReason === undefined) ||
    (fields !== undefined && !isTextList(fields)) ||
    Object.keys(unknown).length > 0
  ) {
    throw refuse(at, entry);
  }
  return {
    ...(fields === undefined ? { rule } : { rule: forgiving(rule, fields), optionalOldSelf: true }),
    message,
    ...(fieldPath !== undefined && { fieldPath }),
    ...(knownReason !== undefined && { reason: knownReason }),
  };
}

function forgiving(rule: string, fields: readonly string[]): string {
  const unchanged = fields.map((path) => isUnchanged(path.split(".")));
  return `(${rule}) || (oldSelf.hasValue() && ${unchanged.join(" && ")})`;
}

// Not `oldSelf.?a == self.?a`: the API server takes what is optional to be of any size, and refuses the rule as too costly.
function isUnchanged(names: readonly string[]): string {
  const now = ["self", ...names].join(".");
  const before = ["oldSelf", ...names].join(".?");
  const isThere = names.map((_, index) => `has(${["self", ...names.slice(0, index + 1)].join(".")})`).join(" && ");
  return `(${isThere} ? ${before}.hasValue() && ${before}.value() == ${now} : !${before}.hasValue())`;
}

function refuse(at: string, entry: unknown): GenerateError {
  return new GenerateError("NOT_STRUCTURAL", at, `has the rule ${JSON.stringify(entry)}, which a CRD cannot say`);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
