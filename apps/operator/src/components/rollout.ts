// SPDX-License-Identifier: Apache-2.0
/** Rollout is the progress of a DaemonSet. */
import { isRecord, type KubeObject } from "@switchyard/kube";

export interface Rollout {
  /** Whether the counts are those of the current spec. */
  readonly isCurrent: boolean;
  /** Number of nodes that should run a pod. */
  readonly desired: number;
  /** Number of nodes with a pod of the current spec. */
  readonly updated: number;
  /** Number of nodes with an available pod. */
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

/**
 * Returns what is missing; undefined if all pods are updated and available. A DaemonSet without a node has none of its pods,
 * unless `needsNode` is false because it only runs on nodes with VFs.
 */
export function pendingRollout(name: string, rollout: Rollout | undefined, needsNode = true): string | undefined {
  if (rollout?.isCurrent !== true) return `${name} is being started`;
  const { desired, updated, available } = rollout;
  if (desired === 0 && needsNode) return `${name}: no node can run it (0 pods wanted)`;
  if (updated >= desired && available >= desired) return undefined;
  const counts = [
    ...(updated >= desired ? [] : [`${updated} of ${desired} pods updated`]),
    `${available} of ${desired} pods available`,
  ];
  return `${name}: ${counts.join(", ")}`;
}

/**
 * Reports whether a pod of the current spec is available: more nodes have an available pod than lack an updated one.
 */
export function isServing(rollout: Rollout | undefined): boolean {
  if (rollout?.isCurrent !== true) return false;
  return rollout.available > Math.max(rollout.desired - rollout.updated, 0);
}

// A field that is absent from the status is 0.
function count(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
