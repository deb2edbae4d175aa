// SPDX-License-Identifier: Apache-2.0
/**
 * Kinds of dynamic resource allocation (resource.k8s.io/v1), which is available since Kubernetes 1.34.
 */
import type { ResourceType } from "./metadata.ts";

/** API resource of ResourceClaims. */
export const resourceClaims = {
  group: "resource.k8s.io",
  version: "v1",
  kind: "ResourceClaim",
  plural: "resourceclaims",
  namespaced: true,
} as const satisfies ResourceType;

/** API resource of ResourceSlices. */
export const resourceSlices = {
  group: "resource.k8s.io",
  version: "v1",
  kind: "ResourceSlice",
  plural: "resourceslices",
  namespaced: false,
} as const satisfies ResourceType;
