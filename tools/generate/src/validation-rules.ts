// SPDX-License-Identifier: Apache-2.0
/**
 * toValidationRules converts CEL rules from JSDoc to the form of a CRD. In JSDoc a rule may list the `fields` that it
 * validates: `{ rule: "…", message: "…", fields: ["isRdma", "deviceType"] }`.
 *
 * A stored object that violates a newer rule can still be updated. A rule on the value that it validates accepts the value
 * that is stored (tolerate-old-values.ts). A rule about several fields is on an object that contains them, which changes
 * more often; with `fields`, the generated rule also accepts the object if none of these fields changed. Both require
 * Kubernetes 1.30 or later.
 */
import { defined, type ValidationRule } from "@switchyard/api";
import { GenerateError } from "./generate-error.ts";

/** Converts rules. `at` is the path of the schema that has the rules, for errors. */
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
    !isText(message) || // without a message the API server would show the expression
    (fieldPath !== undefined && !isText(fieldPath)) ||
    (reason !== undefined && knownReason === undefined) ||
    (fields !== undefined && !isTextList(fields)) ||
    Object.keys(unknown).length > 0
  ) {
    throw refuse(at, entry);
  }
  return {
    ...(fields === undefined ? { rule } : { rule: orUnchanged(rule, fields), optionalOldSelf: true }),
    message,
    ...defined({ fieldPath, reason: knownReason }),
  };
}

function orUnchanged(rule: string, fields: readonly string[]): string {
  const unchanged = fields.map((path) => isUnchanged(path.split(".")));
  return `(${rule}) || (oldSelf.hasValue() && ${unchanged.join(" && ")})`;
}

// `oldSelf.?a == self.?a` is shorter, but the API server assumes an unlimited size for optional values and rejects the
// rule as
// too expensive.
function isUnchanged(names: readonly string[]): string {
  const now = ["self", ...names].join(".");
  const before = ["oldSelf", ...names].join(".?");
  const isThere = names.map((_, index) => `has(${["self", ...names.slice(0, index + 1)].join(".")})`).join(" && ");
  return `(${isThere} ? ${before}.hasValue() && ${before}.value() == ${now} : !${before}.hasValue())`;
}

function refuse(at: string, entry: unknown): GenerateError {
  return new GenerateError(
    "NOT_STRUCTURAL",
    at,
    `has the rule ${JSON.stringify(entry)}, which is not supported in a CRD`,
  );
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/**
 * Type predicates for JSON values.
 * Reports whether the value is an object, not a list or null.
 */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reports whether the value is a list of strings. */
export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
