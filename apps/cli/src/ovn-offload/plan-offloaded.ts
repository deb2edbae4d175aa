// SPDX-License-Identifier: Apache-2.0
/** planOffloaded plans a cluster as it is when ovn-offload has done what the SriovOperatorConfig requests. */
import { ovnOffloadMachineConfigName } from "@switchyard/render";
import type { ClusterObjects } from "../cluster/cluster-objects.ts";
import { podsIn, withPods } from "../cluster/evicted-pods.ts";
import { planCluster, type PrintedNodePlan, type PlannedNode } from "../cluster/plan-cluster.ts";
import type { Flags } from "../flags.ts";
import type { Diagnostics } from "../terminal.ts";
import { offloadCluster, type Offload } from "./offload-cluster.ts";
import { poolLabelOf } from "./select-in-input.ts";

type PlanFlags = Pick<Flags, "namespace" | "resourcePrefix" | "clusterType" | "node">;

/** The same with the pods that are evicted, as far as `given` contains pods. */
export function planOffloadedWithPods(
  given: ClusterObjects,
  flags: PlanFlags,
  diagnostics: Diagnostics,
): readonly PrintedNodePlan[] {
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

/**
 * offloadReboots returns the nodes that reboot because MachineConfigs of the OVN offload are written or deleted. In clusters
 * without MachineConfigs, the plan of the config daemon has the reboot.
 * Returns the reasons by node. A pool whose nodes run our MachineConfig does not reboot for it.
 */
function offloadReboots(offload: Offload | undefined, { network }: ClusterObjects): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  if (offload?.isOpenshift !== true) return reasons;
  const hasConfig = (name: string) => {
    const pool = network.machineConfigPools.find(({ metadata }) => metadata.name === name);
    const sources: unknown = pool?.status?.configuration?.source;
    const config = ovnOffloadMachineConfigName(name);
    return (
      Array.isArray(sources) && sources.some((source: { readonly name?: unknown } | null) => source?.name === config)
    );
  };
  for (const { name, hosts, isWhole } of offload.pools) {
    if (!isWhole || hasConfig(name)) continue;
    const text = `MachineConfig ${ovnOffloadMachineConfigName(name)} of pool ${name} disables Open vSwitch on the host`;
    for (const node of hosts.keys()) reasons.set(node, text);
  }
  for (const node of offload.leaving) {
    const name = poolLabelOf(node) ?? "";
    const config = ovnOffloadMachineConfigName(name);
    if (hasConfig(name))
      reasons.set(node.metadata.name, `MachineConfig ${config} is deleted, so Open vSwitch runs on the host again`);
  }
  return reasons;
}
