// SPDX-License-Identifier: Apache-2.0
/**
 * planOffloaded plans a cluster as it is when ovn-offload has done what the SriovOperatorConfig requests.
 * Usage: `const planned = planOffloaded(cluster, flags, diagnostics)`.
 */
import { planCluster, type PlannedNode } from "../cluster/plan-cluster.ts";
import type { ClusterObjects } from "../cluster/cluster-objects.ts";
import type { Diagnostics } from "../diagnostics.ts";
import type { Flags } from "../flags.ts";
import { offloadCluster } from "./offload-cluster.ts";
import { offloadReboots } from "./offload-reboots.ts";

/** Sorted by node name; only the node of the flags, if they have one. */
export function planOffloaded(
  given: ClusterObjects,
  {
    namespace,
    resourcePrefix,
    clusterType,
    node,
  }: Pick<Flags, "namespace" | "resourcePrefix" | "clusterType" | "node">,
  diagnostics: Diagnostics,
): readonly PlannedNode[] {
  const { cluster, offload } = offloadCluster(given, { namespace, resourcePrefix, clusterType, diagnostics });
  const reboots = offloadReboots(offload, cluster);
  return planCluster(cluster, { namespace, diagnostics, reboots, node });
}
