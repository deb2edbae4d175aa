// SPDX-License-Identifier: Apache-2.0
import type { ResourceType } from "./metadata.ts";

/** core/v1 Pod. There is no type for it: what reads pods takes single fields of unknown shape. */
export const pods = {
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  namespaced: true,
} as const satisfies ResourceType;
