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
