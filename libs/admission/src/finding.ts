// SPDX-License-Identifier: Apache-2.0
/**
 * Finding is what a rule says about an object: a refusal or a warning at a field.
 * Usage: `refuse("spec.numVfs", "must be at least 1")`.
 */

/** A refusal rejects the object; a warning does not. */
export interface Finding {
  readonly severity: "refusal" | "warning";
  /** Path of the field, such as "spec.nicSelector.pfNames[0]"; empty for the object as a whole. */
  readonly field: string;
  /** What is wrong and what would be right. Does not repeat the path. */
  readonly message: string;
}

/** A finding that rejects the object. */
export function refuse(field: string, message: string): Finding {
  return { severity: "refusal", field, message };
}

/** A finding that is shown to the user while the object is admitted. */
export function warn(field: string, message: string): Finding {
  return { severity: "warning", field, message };
}

/** One line, such as "spec.numVfs: must be at least 1". */
export function describeFinding({ field, message }: Pick<Finding, "field" | "message">): string {
  return field === "" ? message : `${field}: ${message}`;
}
