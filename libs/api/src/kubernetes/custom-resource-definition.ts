// SPDX-License-Identifier: Apache-2.0
/** apiextensions.k8s.io/v1 CustomResourceDefinition, restricted to the fields that are used. */
import type { ObjectMeta, ResourceType } from "./metadata.ts";

/** API resource of CustomResourceDefinitions. */
export const customResourceDefinitions = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
} as const satisfies ResourceType;

/** apiextensions.k8s.io/v1 CustomResourceDefinition. */
export interface CustomResourceDefinition {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string; readonly kind: string };
    readonly versions: readonly CustomResourceVersion[];
  };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

/** A version of a kind. */
export interface CustomResourceVersion {
  readonly name: string;
  readonly served: boolean;
  /** A JSON schema; see StructuralSchema for the form of Switchyard's own. */
  readonly schema?: { readonly openAPIV3Schema?: unknown };
}

/**
 * StructuralSchema is the subset of OpenAPI v3 that a CRD accepts (apiextensions.k8s.io/v1 JSONSchemaProps), restricted
 * to the keywords that Switchyard's kinds use. Ajv accepts such schemas with the options strict: false and
 * validateFormats: false.
 * Schema of a value.
 */
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
