// SPDX-License-Identifier: Apache-2.0
/**
 * FieldProblem is a field that the API server refuses, with the API server's message. The API server lists it in
 * `details.causes` of its answer (k8s.io/apimachinery, util/validation/field).
 */

const headings = {
  FieldValueInvalid: "Invalid value",
  FieldValueTypeInvalid: "Invalid value",
  FieldValueRequired: "Required value",
  FieldValueNotSupported: "Unsupported value",
  FieldValueTooLong: "Too long",
  FieldValueTooMany: "Too many",
  FieldValueDuplicate: "Duplicate value",
  FieldValueForbidden: "Forbidden",
} as const;

export type FieldReason = keyof typeof headings;

export interface FieldProblem {
  readonly reason: FieldReason;
  /** Path, such as "spec.nicSelector.pfNames[0]"; "<nil>" if the problem belongs to no field. */
  readonly field: string;
  /** Message, such as "Invalid value: 70000: spec.numVfs in body should be less than or equal to 65535". */
  readonly message: string;
}

/** Added if CEL rules were not checked because of other problems. */
export const rulesLeftOut: FieldProblem = {
  reason: "FieldValueInvalid",
  field: "<nil>",
  message:
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
};

/** Problems with these reasons prevent CEL rules from being checked: rules rely on the schema. */
const blocking: ReadonlySet<FieldReason> = new Set([
  "FieldValueRequired",
  "FieldValueNotSupported",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

/** Whether the problem prevents CEL rules from being checked. */
export function isBlocking({ reason }: FieldProblem): boolean {
  return blocking.has(reason);
}

/** `value` is shown if it is given and the reason shows values; `detail` follows it. */
export function fieldProblem(
  reason: FieldReason,
  field: string,
  text: { readonly value?: unknown; readonly detail?: string } = {},
): FieldProblem {
  const parts: string[] = [headings[reason]];
  if (showsValue(reason) && "value" in text) parts.push(formatValue(text.value));
  if (text.detail !== undefined && text.detail !== "") parts.push(text.detail);
  return { reason, field, message: parts.join(": ") };
}

/** "spec.numVfs: Required value". */
export function describeFieldProblem({ field, message }: FieldProblem): string {
  return `${field}: ${message}`;
}

function showsValue(reason: FieldReason): boolean {
  return reason !== "FieldValueRequired" && reason !== "FieldValueForbidden" && reason !== "FieldValueTooLong";
}

/** As Go prints it: strings as with %q, other values as JSON. */
function formatValue(value: unknown): string {
  return value === undefined ? "null" : JSON.stringify(value);
}
