// SPDX-License-Identifier: Apache-2.0
/**
 * One field that the API server refuses, in its words: what it lists in `details.causes` of its answer
 * (k8s.io/apimachinery, util/validation/field).
 * Usage: `fieldProblem("FieldValueRequired", "spec.numVfs")`.
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
  /** "spec.nicSelector.pfNames[0]"; "<nil>" for what belongs to no field. */
  readonly field: string;
  /** 'Invalid value: 70000: spec.numVfs in body should be less than or equal to 65535'. */
  readonly message: string;
}

/** Where schema or rules were broken so that rules were left out. */
export const rulesLeftOut: FieldProblem = {
  reason: "FieldValueInvalid",
  field: "<nil>",
  message:
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
};

/** Reasons that keep the server from looking at rules: these count on the schema to hold. */
const blocking: ReadonlySet<FieldReason> = new Set([
  "FieldValueRequired",
  "FieldValueNotSupported",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

/** Whether rules are left out because of the problem. */
export function isBlocking({ reason }: FieldProblem): boolean {
  return blocking.has(reason);
}

/** `value` is shown where the reason shows one and there is one; `detail` follows it. */
export function fieldProblem(
  reason: FieldReason,
  field: string,
  said: { readonly value?: unknown; readonly detail?: string } = {},
): FieldProblem {
  const parts: string[] = [headings[reason]];
  if (showsValue(reason) && "value" in said) parts.push(shown(said.value));
  if (said.detail !== undefined && said.detail !== "") parts.push(said.detail);
  return { reason, field, message: parts.join(": ") };
}

/** "spec.numVfs: Required value". */
export function describeFieldProblem({ field, message }: FieldProblem): string {
  return `${field}: ${message}`;
}

function showsValue(reason: FieldReason): boolean {
  return reason !== "FieldValueRequired" && reason !== "FieldValueForbidden" && reason !== "FieldValueTooLong";
}

/** Go's %q of a text, and JSON of all else. */
function shown(value: unknown): string {
  return value === undefined ? "null" : JSON.stringify(value);
}
