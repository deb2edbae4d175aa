// SPDX-License-Identifier: Apache-2.0
/** core/v1 Node, restricted to the fields that are used. */
import type { ObjectMeta, ResourceType } from "./metadata.ts";

/** API resource of Nodes. */
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
