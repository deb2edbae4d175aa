// SPDX-License-Identifier: Apache-2.0
/**
 * StructuralSchema is the subset of OpenAPI v3 that a CRD accepts (apiextensions.k8s.io/v1 JSONSchemaProps), restricted
 * to the keywords that Switchyard's kinds use. Ajv accepts such schemas with the options strict: false and
 * validateFormats: false.
 */

/** Schema of a value. */
export interface StructuralSchema {
  readonly description?: string;
  /** Absent only if x-kubernetes-int-or-string is set. */
  readonly type?: "object" | "array" | "string" | "integer" | "boolean";
  readonly format?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly anyOf?: readonly { readonly type: "integer" | "string" }[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema;
  readonly items?: StructuralSchema;
  readonly "x-kubernetes-int-or-string"?: true;
  readonly "x-kubernetes-list-type"?: "atomic" | "map" | "set";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

/** A validation rule in the Common Expression Language (CEL). */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly fieldPath?: string;
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  readonly optionalOldSelf?: boolean;
}
