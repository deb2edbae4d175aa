// SPDX-License-Identifier: Apache-2.0
/** API resource of core/v1 ConfigMaps. */
import type { ResourceType } from "./metadata.ts";

export const configMaps = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
} as const satisfies ResourceType;
