// SPDX-License-Identifier: Apache-2.0
/** core/v1 Namespace, restricted to the fields that are used. */
import type { ObjectMeta, ResourceType } from "./metadata.ts";

/** API resource of Namespaces. */
export const namespaces = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
} as const satisfies ResourceType;

/** core/v1 Namespace. */
export interface Namespace {
  readonly apiVersion: "v1";
  readonly kind: "Namespace";
  readonly metadata: ObjectMeta;
}
