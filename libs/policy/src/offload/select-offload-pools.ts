// SPDX-License-Identifier: Apache-2.0
/**
 * selectOffloadPools finds the pools and hosts that SriovOperatorConfig.spec.ovnHardwareOffload selects, and what is wrong
 * with the selection (smartnic.md 2.5). The webhook, the service ovn-offload and the command line use it.
 * Usage: `const { pools, problems } = selectOffloadPools({ entries, machineConfigPools, nodes, interfacesOf, networkOf });`
 */
import type { HostNetworkStatus, InterfaceStatus, MachineConfigPool, Node, OvnHardwareOffload } from "@switchyard/api";
import { compareText } from "../order.ts";
import { selectMachineConfigPools } from "./select-machine-config-pools.ts";
import { selectNodePools } from "./select-node-pools.ts";
import { offloadProblem, type OffloadPool, type OffloadProblem, type OffloadSelection } from "./offload-selection.ts";
import { smartNicsOf } from "./smart-nics.ts";

/** What the selection depends on. */
export interface OffloadSources {
  /** SriovOperatorConfig.spec.ovnHardwareOffload. */
  readonly entries: readonly OvnHardwareOffload[];
  /** All MachineConfigPools, in any order; undefined if the cluster does not have this kind. */
  readonly machineConfigPools?: readonly MachineConfigPool[] | undefined;
  /** All nodes, in any order. */
  readonly nodes: readonly Node[];
  /** Returns the PFs that a node has reported; undefined if it has not reported yet. */
  readonly interfacesOf: (node: string) => readonly InterfaceStatus[] | undefined;
  /** Returns how a node reaches its network; undefined if that is not known. */
  readonly networkOf: (node: string) => HostNetworkStatus | undefined;
}

/**
 * Selects pools and their nodes. The function does not judge whether a host may change now: a node or pool with a problem
 * must stay as it is until the problem is gone.
 */
export function selectOffloadPools(sources: OffloadSources): OffloadSelection {
  const { entries, machineConfigPools } = sources;
  const problems: OffloadProblem[] = entries.flatMap(({ nodeSelector }, entry) => {
    if (Object.keys(nodeSelector).length > 0) return [];
    const message = "nodeSelector has no label, so it selects no hosts: add at least one label";
    return [offloadProblem({ code: "empty-selector", entry, message })];
  });
  const selection =
    machineConfigPools === undefined
      ? selectNodePools(entries, sources.nodes)
      : selectMachineConfigPools(entries, machineConfigPools, sources.nodes);
  problems.push(...selection.problems, ...selection.pools.flatMap((pool) => nodeProblems(pool, sources)));
  return {
    pools: selection.pools.toSorted((a, b) => compareText(a.name, b.name)),
    problems: problems.toSorted(
      (a, b) => a.entry - b.entry || compareText(a.pool ?? "", b.pool ?? "") || compareText(a.node ?? "", b.node ?? ""),
    ),
  };
}

function nodeProblems(pool: OffloadPool, { interfacesOf, networkOf }: OffloadSources): readonly OffloadProblem[] {
  const ofCards = cardProblems(pool, interfacesOf);
  // A node without SmartNIC cannot become a host anyway.
  const known = new Set(ofCards.map(({ node }) => node));
  return [
    ...ofCards,
    ...pool.nodes.filter((node) => !known.has(node)).flatMap((node) => networkProblem(pool, node, networkOf(node))),
  ];
}

function networkProblem(
  { name: pool, entry }: OffloadPool,
  node: string,
  network: HostNetworkStatus | undefined,
): readonly OffloadProblem[] {
  const { openVSwitchInterfaces: interfaces = [], madeByConfigureOvs } = network ?? {};
  if (interfaces.length === 0 || madeByConfigureOvs === true) return [];
  const shown = interfaces.slice(0, maxShown).map((name) => name.slice(0, maxNameLength));
  const message =
    `node ${node} of pool ${pool} would boot without network, because its default route is on ${shown.join(", ")}, which ` +
    "needs Open vSwitch and was not made by configure-ovs: give the host a network without Open vSwitch, for example by NMState";
  return [offloadProblem({ code: "network-on-open-vswitch", entry, pool, node, message })];
}

function cardProblems(
  { name: pool, entry, nodes }: OffloadPool,
  interfacesOf: OffloadSources["interfacesOf"],
): readonly OffloadProblem[] {
  return nodes.flatMap((node) => {
    const interfaces = interfacesOf(node);
    if (interfaces === undefined || interfaces.length === 0) return [];
    const cards = smartNicsOf(interfaces);
    if (cards.length === 1) return [];
    if (cards.length === 0) {
      const message = `node ${node} of pool ${pool} has no SmartNIC (NVIDIA BlueField-2 or BlueField-3)`;
      return [offloadProblem({ code: "no-smart-nic", entry, pool, node, message })];
    }
    const shown = cards.slice(0, maxShown).map(({ slot }) => slot.slice(0, maxSlotLength));
    const message =
      `node ${node} of pool ${pool} has ${cards.length} SmartNICs (${shown.join(", ")}), ` +
      "but OVN can run on one only: remove the others, or move the node to another pool";
    return [offloadProblem({ code: "several-smart-nics", entry, pool, node, message })];
  });
}

/** Limits what a node can put into a message: it can write any text into its status. */
const maxShown = 4;
const maxSlotLength = 16;
const maxNameLength = 15;
