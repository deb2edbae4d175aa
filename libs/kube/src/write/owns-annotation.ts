// SPDX-License-Identifier: Apache-2.0
/**
 * ownsAnnotation reports whether an entry of managedFields owns an annotation.
 * Usage: `managedFields.filter((entry) => ownsAnnotation(entry, annotations.currentState))`.
 */
import { isRecord, type ManagedFieldsEntry } from "../kube-object.ts";

/** Returns false if the entry has no fields in the format FieldsV1. */
export function ownsAnnotation({ fieldsV1 }: ManagedFieldsEntry, annotation: string): boolean {
  const metadata = isRecord(fieldsV1) ? fieldsV1["f:metadata"] : undefined;
  const all = isRecord(metadata) ? metadata["f:annotations"] : undefined;
  return isRecord(all) && Object.hasOwn(all, `f:${annotation}`);
}
