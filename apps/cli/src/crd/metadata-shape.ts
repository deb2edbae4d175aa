// SPDX-License-Identifier: Apache-2.0
/**
 * Whether the API server can read an object's metadata (metav1.ObjectMeta), in the words of Go's decoder.
 * Usage: `malformedMetadata(object.metadata)`.
 */
import { isJsonObject } from "../json.ts";

/** Types of the fields that users write, as Go names them. Those of the server's own fields are not looked into. */
const fieldTypes = {
  name: "string",
  generateName: "string",
  namespace: "string",
  selfLink: "string",
  uid: "string",
  resourceVersion: "string",
  generation: "int64",
  creationTimestamp: undefined,
  deletionTimestamp: undefined,
  deletionGracePeriodSeconds: "int64",
  labels: "map[string]string",
  annotations: "map[string]string",
  ownerReferences: undefined,
  finalizers: "[]string",
  managedFields: undefined,
} as const;

/** Undefined where all is well. */
export function malformedMetadata(metadata: unknown): string | undefined {
  if (metadata === undefined || metadata === null) return undefined;
  if (!isJsonObject(metadata)) return cannotTake(metadata, "", "v1.ObjectMeta");
  for (const [field, type] of Object.entries(fieldTypes)) {
    const value = metadata[field];
    const problem = value === undefined || value === null ? undefined : mismatch(value, field, type);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Paths of fields that metadata does not have. */
export function unknownMetadata(metadata: unknown): readonly string[] {
  const fields = isJsonObject(metadata) ? Object.keys(metadata) : [];
  return fields.filter((field) => !Object.hasOwn(fieldTypes, field)).map((field) => `metadata.${field}`);
}

function mismatch(value: unknown, field: string, type: string | undefined): string | undefined {
  switch (type) {
    case "string":
      return typeof value === "string" ? undefined : cannotTake(value, field, type);
    case "int64":
      return Number.isInteger(value) ? undefined : cannotTake(value, field, type);
    case "map[string]string":
      return isJsonObject(value) ? badText(Object.values(value), field) : cannotTake(value, field, type);
    case "[]string":
      return Array.isArray(value) ? badText(value, field) : cannotTake(value, field, type);
    default:
      return undefined;
  }
}

function badText(values: readonly unknown[], field: string): string | undefined {
  const wrong = values.find((value) => typeof value !== "string" && value !== null);
  return wrong === undefined ? undefined : cannotTake(wrong, field, "string");
}

function cannotTake(value: unknown, field: string, type: string): string {
  const at = field === "" ? "Go value" : `Go struct field ObjectMeta.${field}`;
  return `json: cannot unmarshal ${jsonType(value)} into ${at} of type ${type}`;
}

/** As Go's decoder names it. */
function jsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}
