// SPDX-License-Identifier: Apache-2.0
/**
 * How far the pods of a DaemonSet are.
 * Usage: `pendingRollout("config-daemon", readRollout(daemonSet))` is "config-daemon: 2 of 3 pods available".
 */
import { isRecord, type KubeObject } from "@switchyard/kube";

export interface Rollout {
  /** Whether the counts are of the present spec. */
  readonly isCurrent: boolean;
  /** Nodes that are to run a pod. */
  readonly desired: number;
  /** Those with a pod of the present spec. */
  readonly updated: number;
  /** Those with a pod that is ready. */
  readonly available: number;
}

export function readRollout(daemonSet: KubeObject & { readonly status?: unknown }): Rollout {
  const status = isRecord(daemonSet.status) ? daemonSet.status : {};
  return {
    isCurrent: count(status["observedGeneration"]) >= count(daemonSet.metadata.generation),
    desired: count(status["desiredNumberScheduled"]),
    updated: count(status["updatedNumberScheduled"]),
    available: count(status["numberAvailable"]),
  };
}

/** Undefined: all pods are as wanted. Otherwise what is missing. */
export function pendingRollout(name: string, rollout: Rollout | undefined): string | undefined {
  if (rollout?.isCurrent !== true) return `${name} is being started`;
  const { desired, updated, available } = rollout;
  if (updated >= desired && available >= desired) return undefined;
  const counts = [
    ...(updated >= desired ? [] : [`${updated} of ${desired} pods updated`]),
    `${available} of ${desired} pods available`,
  ];
  return `${name}: ${counts.join(", ")}`;
}

/** Whether a pod of the present spec answers: more nodes have one that is ready than have none of this spec. */
export function isServing(rollout: Rollout | undefined): boolean {
  if (rollout?.isCurrent !== true) return false;
  return rollout.available > Math.max(rollout.desired - rollout.updated, 0);
}

// Absent fields of a status are zeros.
function count(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
