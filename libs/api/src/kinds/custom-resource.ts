// SPDX-License-Identifier: Apache-2.0
/**
 * What a kind of ours has beside its fields: where it lives, and what `kubectl get` shows of it. The constant stands in
 * the kind's file, next to the interface whose JSDoc is the schema; `npm run generate` makes the CRD of both.
 */
import type { ResourceType } from "../kubernetes/metadata.ts";

/** A kind that a CRD defines. */
export interface CustomResource extends ResourceType {
  /** In the order in which they are shown. */
  readonly columns: readonly PrinterColumn[];
}

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "date";
  /** Where the value is, from the object's root: ".spec.numVfs". */
  readonly jsonPath: string;
  /** Shown by `-o wide` only. */
  readonly wide?: true;
}

/** Status of the condition Ready. */
export const readyColumn = {
  name: "Ready",
  type: "string",
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
} as const satisfies PrinterColumn;

/** Why Ready is what it is. */
export const reasonColumn = {
  name: "Reason",
  type: "string",
  jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
  wide: true,
} as const satisfies PrinterColumn;

export const ageColumn = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
} as const satisfies PrinterColumn;
