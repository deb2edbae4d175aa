// SPDX-License-Identifier: Apache-2.0
/**
 * planOffloaded plans a cluster as it is when ovn-offload has done what the SriovOperatorConfig requests.
 * Usage: `const planned = planOffloaded(cluster, flags, diagnostics)`.
 */
import { podsIn, withPods } from "../cluster/evicted-pods.ts";
import { planCluster, type NodePlan, type PlannedNode } from "../cluster/plan-cluster.ts";
import type { ClusterObjects } from "../cluster/cluster-objects.ts";
import type { Diagnostics } from "../diagnostics.ts";
import type { Flags } from "../flags.ts";
import { offloadCluster } from "./offload-cluster.ts";
import { offloadReboots } from "./offload-reboots.ts";

type PlanFlags = Pick<Flags, "namespace" | "resourcePrefix" | "clusterType" | "node">;

/** The same with the pods that are evicted, as far as `given` contains pods. */
export function planOffloadedWithPods(
  given: ClusterObjects,
  flags: PlanFlags,
  diagnostics: Diagnostics,
): readonly NodePlan[] {
  return withPods(planOffloaded(given, flags, diagnostics), given, podsIn(given, flags.resourcePrefix));
}

/** Sorted by node name; only the node of the flags, if they have one. */
export function planOffloaded(
  given: ClusterObjects,
  { namespace, resourcePrefix, clusterType, node }: PlanFlags,
  diagnostics: Diagnostics,
): readonly PlannedNode[] {
  const { cluster, offload } = offloadCluster(given, { namespace, resourcePrefix, clusterType, diagnostics });
  const reboots = offloadReboots(offload, cluster);
  return planCluster(cluster, { namespace, diagnostics, reboots, node });
}
