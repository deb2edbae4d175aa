// SPDX-License-Identifier: Apache-2.0
/**
 * Dynamic resource allocation (resource.k8s.io/v1), which Kubernetes serves since 1.34.
 */
import type { ResourceType } from "./metadata.ts";

export const resourceClaims = {
  group: "resource.k8s.io",
  version: "v1",
  kind: "ResourceClaim",
  plural: "resourceclaims",
  namespaced: true,
} as const satisfies ResourceType;

export const resourceSlices = {
  group: "resource.k8s.io",
  version: "v1",
  kind: "ResourceSlice",
  plural: "resourceslices",
  namespaced: false,
} as const satisfies ResourceType;
