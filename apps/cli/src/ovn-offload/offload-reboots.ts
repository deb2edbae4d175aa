// SPDX-License-Identifier: Apache-2.0
/**
 * offloadReboots returns the nodes that reboot because MachineConfigs of the OVN offload are written or deleted. In clusters
 * without MachineConfigs, the plan of the config daemon has the reboot.
 * Usage: `const why = offloadReboots(offload, cluster).get("worker-1");`
 */
import { ovnOffloadMachineConfigName } from "@switchyard/render";
import type { ClusterObjects } from "../cluster/cluster-objects.ts";
import type { Offload } from "./offload-cluster.ts";
import { poolLabelOf } from "./select-in-input.ts";

/** Returns the reasons by node. A pool whose nodes run our MachineConfig does not reboot for it. */
export function offloadReboots(offload: Offload | undefined, { network }: ClusterObjects): ReadonlyMap<string, string> {
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
