// SPDX-License-Identifier: Apache-2.0
/**
 * selectInInput finds the pools and hosts that SriovOperatorConfig.spec.ovnHardwareOffload in the input selects, as the
 * service ovn-offload does. Problems are reported.
 */
import { labels, type MachineConfigPool, type Node } from "@switchyard/api";
import { selectOffloadPools, smartNicsOf, statusPfs, type OffloadPool, type SmartNic } from "@switchyard/policy";
import type { ClusterObjects } from "../cluster/cluster-objects.ts";
import type { Diagnostics } from "../terminal.ts";
import { labelOf } from "../json.ts";

export interface SelectOptions {
  readonly clusterType: "kubernetes" | "openshift";
  readonly diagnostics: Diagnostics;
}

export interface SelectedPool extends OffloadPool {
  /** The hosts among the nodes, with their SmartNICs. */
  readonly hosts: ReadonlyMap<string, SmartNic>;
  /** Whether all nodes are hosts. Otherwise Open vSwitch stays on all of them. */
  readonly isWhole: boolean;
}

export interface InputSelection {
  readonly isOpenshift: boolean;
  readonly pools: readonly SelectedPool[];
  /** Nodes that stay as they are because of a problem. */
  readonly unclear: ReadonlySet<string>;
}

/** Undefined if nothing is selected and nothing was, or if it is unknown. */
export function selectInInput(cluster: ClusterObjects, options: SelectOptions): InputSelection | undefined {
  const { operatorConfig, nodes, states } = cluster;
  const { diagnostics } = options;
  const entries = operatorConfig?.spec?.ovnHardwareOffload ?? [];
  if (operatorConfig === undefined || (entries.length === 0 && !nodes.some(poolLabelOf))) return undefined;
  const about = `${labelOf({ kind: operatorConfig.kind, ...operatorConfig.metadata })}: spec.ovnHardwareOffload`;
  const pools = machineConfigPoolsIn(cluster, options);
  if (pools === undefined) {
    diagnostics.report(`${about}: ignored, because the input has no MachineConfigPool`);
    return undefined;
  }
  const isOpenshift = pools !== "not-served";
  const interfacesOf = (name: string) => {
    const status = states.get(name)?.status;
    return status && statusPfs(status);
  };
  const machineConfigPools = isOpenshift ? pools : undefined;
  const networkOf = (name: string) => states.get(name)?.status?.system?.hostNetwork;
  const selection = selectOffloadPools({ entries, machineConfigPools, nodes, interfacesOf, networkOf });
  for (const { severity, entry, message } of selection.problems) {
    const line = `${about}[${entry}].nodeSelector: ${message}`;
    if (severity === "error") diagnostics.report(line);
    else diagnostics.note(line);
  }
  const unclear = new Set(selection.problems.flatMap(({ node }) => node ?? []));
  return {
    isOpenshift,
    unclear,
    pools: selection.pools.map((pool) => {
      const hosts = new Map<string, SmartNic>();
      for (const node of pool.nodes) {
        const [card] = unclear.has(node) ? [] : smartNicsOf(interfacesOf(node) ?? []);
        if (card !== undefined) hosts.set(node, card);
      }
      const isWhole =
        hosts.size === pool.nodes.length && !selection.problems.some(({ pool: name }) => name === pool.name);
      if (!isWhole)
        diagnostics.note(`${about}: pool ${pool.name} keeps Open vSwitch until all of its nodes can be hosts`);
      return { ...pool, hosts, isWhole };
    }),
  };
}

/** Returns the name of the pool that the node is, or will be, a host in. */
export function poolLabelOf({ metadata }: Node): string | undefined {
  return metadata.labels?.[labels.ovnOffloadPool] || undefined;
}

/** An OpenShift cluster has MachineConfigPools; without any in the input, it is unknown which ones. */
export function machineConfigPoolsIn(
  { network }: Pick<ClusterObjects, "network">,
  { clusterType }: Pick<SelectOptions, "clusterType">,
): readonly MachineConfigPool[] | "not-served" | undefined {
  if (network.machineConfigPools.length > 0) return network.machineConfigPools;
  return clusterType === "openshift" ? undefined : "not-served";
}
