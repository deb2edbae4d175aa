// SPDX-License-Identifier: Apache-2.0
import type { ObjectMeta, ResourceType } from "./metadata.ts";

/** core/v1 Pod. There is no type for it: what reads pods takes single fields of unknown shape. */
export const pods = {
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  namespaced: true,
} as const satisfies ResourceType;

/** API resource of core/v1 ConfigMaps. */
export const configMaps = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
} as const satisfies ResourceType;

/**
 * core/v1 Namespace, restricted to the fields that are used.
 * API resource of Namespaces.
 */
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

/**
 * core/v1 Node, restricted to the fields that are used.
 * API resource of Nodes.
 */
export const nodes = {
  group: "",
  version: "v1",
  kind: "Node",
  plural: "nodes",
  namespaced: false,
} as const satisfies ResourceType;

/** core/v1 Node. */
export interface Node {
  readonly apiVersion: "v1";
  readonly kind: "Node";
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly providerID?: string;
    readonly taints?: readonly Taint[];
  };
}

/** core/v1 Taint. */
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
}
