// SPDX-License-Identifier: Apache-2.0
/**
 * malformedMetadata checks whether the API server can decode an object's metadata (metav1.ObjectMeta). The message is that of
 * Go's decoder.
 */
import { isJsonObject } from "../json.ts";

/** Go types of the fields that users set. Fields that the server sets are not checked. */
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

/** Returns undefined if the metadata can be decoded. */
export function malformedMetadata(metadata: unknown): string | undefined {
  if (metadata === undefined || metadata === null) return undefined;
  if (!isJsonObject(metadata)) return decodeError(metadata, "", "v1.ObjectMeta");
  for (const [field, type] of Object.entries(fieldTypes)) {
    const value = metadata[field];
    const problem = value === undefined || value === null ? undefined : mismatch(value, field, type);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Returns the paths of unknown fields. */
export function unknownMetadata(metadata: unknown): readonly string[] {
  const fields = isJsonObject(metadata) ? Object.keys(metadata) : [];
  return fields.filter((field) => !Object.hasOwn(fieldTypes, field)).map((field) => `metadata.${field}`);
}

function mismatch(value: unknown, field: string, type: string | undefined): string | undefined {
  switch (type) {
    case "string":
      return typeof value === "string" ? undefined : decodeError(value, field, type);
    case "int64":
      return Number.isInteger(value) ? undefined : decodeError(value, field, type);
    case "map[string]string":
      return isJsonObject(value) ? nonStringMember(Object.values(value), field) : decodeError(value, field, type);
    case "[]string":
      return Array.isArray(value) ? nonStringMember(value, field) : decodeError(value, field, type);
    default:
      return undefined;
  }
}

function nonStringMember(values: readonly unknown[], field: string): string | undefined {
  const wrong = values.find((value) => typeof value !== "string" && value !== null);
  return wrong === undefined ? undefined : decodeError(wrong, field, "string");
}

function decodeError(value: unknown, field: string, type: string): string {
  const at = field === "" ? "Go value" : `Go struct field ObjectMeta.${field}`;
  return `json: cannot unmarshal ${jsonType(value)} into ${at} of type ${type}`;
}

/** The type of a JSON value as Go's decoder names it. */
function jsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}
