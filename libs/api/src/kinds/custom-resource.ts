// SPDX-License-Identifier: Apache-2.0
/**
 * CustomResource describes a kind of this API group apart from its fields: group, version, names, scope and the columns
 * of `kubectl get`. Each kind's file has one such constant and an interface for the schema; `npm run generate` writes
 * the CRD from both.
 */
import type { ResourceType } from "../kubernetes/metadata.ts";

/** A kind that a CRD defines. */
export interface CustomResource extends ResourceType {
  /** Columns of `kubectl get`, from left to right. */
  readonly columns: readonly PrinterColumn[];
}

/**
 * Longest text in the status of a node state, in bytes of UTF-8. Each node writes its own status, so a compromised one can write
 * anything, which every reader has to bear. Messages have at most as many bytes, and all that real hosts report is far shorter.
 */
export const maxStatusTextBytes = 4096;

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "date";
  /** JSON path of the value from the root of the object: ".spec.numVfs". */
  readonly jsonPath: string;
  /** Whether the column is only shown with `-o wide`. */
  readonly wide?: true;
}

/** Column with the status of the condition Ready. */
export const readyColumn = {
  name: "Ready",
  type: "string",
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
} as const satisfies PrinterColumn;

/** Column with the reason of the condition Ready. */
export const reasonColumn = {
  name: "Reason",
  type: "string",
  jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
  wide: true,
} as const satisfies PrinterColumn;

/** Column with the age of the object. */
export const ageColumn = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
} as const satisfies PrinterColumn;
