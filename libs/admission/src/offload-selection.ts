// SPDX-License-Identifier: Apache-2.0
/**
 * offloadSelection selects the hosts of SriovOperatorConfig.spec.ovnHardwareOffload from a ClusterView, as the service
 * ovn-offload does.
 * Usage: `const selection = offloadSelection(config.spec?.ovnHardwareOffload, view);`
 */
import type { OvnHardwareOffload } from "@switchyard/api";
import { selectOffloadPools, type OffloadSelection } from "@switchyard/policy";
import type { ClusterView } from "./cluster-view.ts";
import { asNode } from "./policy-targets.ts";

/** Returns undefined if it is unknown which hosts are selected, because MachineConfigPools are unknown. */
export function offloadSelection(
  entries: readonly OvnHardwareOffload[] | undefined,
  { nodes, machineConfigPools }: Pick<ClusterView, "nodes" | "machineConfigPools">,
): OffloadSelection | undefined {
  if (entries === undefined || entries.length === 0) return { pools: [], problems: [] };
  if (machineConfigPools === undefined) return undefined;
  const states = new Map(nodes.map(({ name, state }) => [name, state]));
  return selectOffloadPools({
    entries,
    machineConfigPools: machineConfigPools === "not-served" ? undefined : machineConfigPools,
    nodes: nodes.map(asNode),
    interfacesOf: (name) => states.get(name)?.layout,
    networkOf: (name) => states.get(name)?.status.system?.hostNetwork,
  });
}
