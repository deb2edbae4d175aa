// SPDX-License-Identifier: Apache-2.0
/**
 * Scenario describes what users and nodes do in a cluster, step by step, as data. At its start and end the cluster
 * contains no objects.
 */
import { isRecord, type KubeObject } from "@switchyard/kube";
import type { ClusterUsers } from "../cluster-users.ts";

/** The operator's namespace. */
export const namespace = "sriov-network-operator";

export interface Scenario {
  readonly name: string;
  /** Flags of the operator for this scenario. */
  readonly flags: readonly string[];
  readonly steps: readonly Step[];
}

export interface Step {
  readonly name: string;
  readonly act: (users: ClusterUsers) => Promise<void>;
  /** Whether pods use VFs that no step may change, not even for a moment. */
  readonly keepsVfs?: true;
  /** Whether the step has reached its goal. The step ends when this is true and the cluster is idle. */
  readonly isDone: (objects: readonly KubeObject[]) => boolean;
}

/** The metadata of an object in the operator's namespace. */
export function place(name: string): { readonly name: string; readonly namespace: string } {
  return { name, namespace };
}

export function ofKind(objects: readonly KubeObject[], kind: string): readonly KubeObject[] {
  return objects.filter((object) => object.kind === kind);
}

/** Whether the object has this condition for its current generation. `label` is "Kind name". */
export function has(objects: readonly KubeObject[], label: string, type: string, reason?: string): boolean {
  const found = objects.find(({ kind, metadata: { name } }) => label === `${kind} ${name}`);
  const { conditions } = statusOf(found);
  const holds = (condition: unknown) =>
    isRecord(condition) &&
    condition["type"] === type &&
    condition["status"] === "True" &&
    condition["observedGeneration"] === found?.metadata.generation &&
    (reason === undefined || condition["reason"] === reason);
  return Array.isArray(conditions) && conditions.some(holds);
}

export function statusOf(object: KubeObject | undefined): Readonly<Record<string, unknown>> {
  return object !== undefined && "status" in object && isRecord(object.status) ? object.status : {};
}
