// SPDX-License-Identifier: Apache-2.0
/**
 * What a rule has to say about an object. A value: users mistype.
 * Usage: `refuse("spec.numVfs", "must be at least 1")`, `warn("spec.priority", …)`.
 */

/** One remark. A refusal keeps the object out of the cluster, a warning does not. */
export interface Finding {
  readonly severity: "refusal" | "warning";
  /** Where in the object: "spec.nicSelector.pfNames[0]"; empty for the object as a whole. */
  readonly field: string;
  /** What is wrong and what would be right. Does not repeat the field. */
  readonly message: string;
}

/** A remark that keeps the object out. */
export function refuse(field: string, message: string): Finding {
  return { severity: "refusal", field, message };
}

/** A remark that lets it in. */
export function warn(field: string, message: string): Finding {
  return { severity: "warning", field, message };
}

/** One line: "spec.numVfs: must be at least 1". */
export function describeFinding({ field, message }: Pick<Finding, "field" | "message">): string {
  return field === "" ? message : `${field}: ${message}`;
}
