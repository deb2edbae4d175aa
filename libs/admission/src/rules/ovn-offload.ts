// SPDX-License-Identifier: Apache-2.0
/**
 * Rules about spec.ovnHardwareOffload of the SriovOperatorConfig (smartnic.md 2.5), and what a change of it does to the
 * hosts.
 */
import { labels, type OvnHardwareOffload, type SriovOperatorConfig } from "@switchyard/api";
import { selectOffloadPools, type OffloadProblem, type OffloadSelection } from "@switchyard/policy";
import type { ClusterView } from "../cluster-view.ts";
import { listNames, refuse, warn, type ReviewFinding } from "../finding.ts";
import type { NodeForReview } from "../node-for-review.ts";
import { asNode } from "../policy-targets.ts";

const field = "spec.ovnHardwareOffload";

/** Without nodes, no cluster is known, and nothing is checked. Missing MachineConfigPools are never a refusal. */
export function checkOvnOffload(config: SriovOperatorConfig, view: ClusterView): readonly ReviewFinding[] {
  const entries = config.spec?.ovnHardwareOffload ?? [];
  if (entries.length === 0 || view.nodes.length === 0) return [];
  const selection = offloadSelection(entries, view);
  if (selection === undefined) {
    return [warn(field, "could not be checked, because the MachineConfigPools of the cluster are not known yet")];
  }
  const twice = selection.pools.flatMap(({ name, entry }) => {
    const pool = view.pools.find(({ spec }) => spec?.ovsHardwareOffloadConfig?.name === name);
    if (pool === undefined) return [];
    const message =
      `MachineConfigPool ${name} is named by spec.ovsHardwareOffloadConfig of SriovNetworkPoolConfig ${pool.metadata.name}, ` +
      "and its machines would run without Open vSwitch: use one of both";
    return [refuse(`${field}[${entry}].nodeSelector`, message)];
  });
  const groups = Map.groupBy(selection.problems, ({ code, entry, pool }) => JSON.stringify([code, entry, pool]));
  return [
    ...twice,
    ...[...groups.values()].flatMap(([first, ...more]) => (first === undefined ? [] : [toFinding(first, more)])),
  ];
}

function toFinding({ severity, entry, message }: OffloadProblem, more: readonly OffloadProblem[]): ReviewFinding {
  const path = `${field}[${entry}].nodeSelector`;
  const others =
    more.length === 1 ? "; the same is true of 1 more node" : `; the same is true of ${more.length} more nodes`;
  const text = more.length === 0 ? message : `${message}${others}`;
  return severity === "error" ? refuse(path, text) : warn(path, text);
}

/** Returns a warning for each pool whose nodes reboot because of the change. */
export function offloadReboots(
  before: SriovOperatorConfig | undefined,
  after: SriovOperatorConfig | undefined,
  view: ClusterView,
): readonly ReviewFinding[] {
  if (after === undefined) return hostsWithoutConfig(view);
  const next = after.spec?.ovnHardwareOffload ?? [];
  // A new config without entries also takes back the hosts that an earlier one had selected.
  if (before !== undefined && JSON.stringify(before.spec?.ovnHardwareOffload ?? []) === JSON.stringify(next)) return [];
  const selection = offloadSelection(next, view);
  if (selection === undefined) return [];
  const poolOf = new Map(view.nodes.map((node) => [node.name, currentPool(node)]));
  const entering = selection.pools.flatMap(({ name, nodes }) => {
    const changing = nodes.filter((node) => poolOf.get(node) !== name);
    if (changing.length === 0) return [];
    // One node that cannot be a host keeps the whole pool, so no node of it reboots.
    const mustWait = selection.problems.some(({ pool }) => pool === name);
    return mustWait
      ? [`pool ${name} keeps Open vSwitch until all of its nodes can be hosts`]
      : [`${rebootsOf(name, changing)} so that OVN runs on the SmartNIC`];
  });
  // A node with a problem stays as it is.
  const staying = new Set([
    ...selection.pools.flatMap(({ nodes }) => nodes),
    ...selection.problems.flatMap(({ node }) => node ?? []),
  ]);
  const leaving = Map.groupBy(
    view.nodes.filter((node) => currentPool(node) !== undefined && !staying.has(node.name)),
    (node) => currentPool(node) ?? "",
  );
  return [
    ...entering,
    ...[...leaving].map(([pool, nodes]) => {
      return `${rebootsOf(pool, namesOf(nodes))} so that OVN runs on the host again`;
    }),
  ].map((message) => warn(field, message));
}

/** Without a config it is not known what is wanted, so its deletion changes no host. */
function hostsWithoutConfig({ nodes }: ClusterView): readonly ReviewFinding[] {
  const byPool = Map.groupBy(
    nodes.filter((node) => currentPool(node) !== undefined),
    (node) => currentPool(node) ?? "",
  );
  return [...byPool].map(([pool, hosts]) => {
    const names = listNames(namesOf(hosts));
    const text =
      hosts.length === 1
        ? `1 node of pool ${pool} stays a host without Open vSwitch (${names}): remove the entry instead`
        : `${hosts.length} nodes of pool ${pool} stay hosts without Open vSwitch (${names}): remove the entry instead`;
    return warn(field, text);
  });
}

/** "2 nodes of pool dpu-host reboot (h1, h2)". */
function rebootsOf(pool: string, nodes: readonly string[]): string {
  const names = listNames(nodes);
  return nodes.length === 1
    ? `1 node of pool ${pool} reboots (${names})`
    : `${nodes.length} nodes of pool ${pool} reboot (${names})`;
}

function currentPool(node: NodeForReview): string | undefined {
  return node.labels[labels.ovnOffloadPool] || undefined;
}

function namesOf(nodes: readonly NodeForReview[]): readonly string[] {
  return nodes.map(({ name }) => name);
}

/**
 * offloadSelection selects the hosts of SriovOperatorConfig.spec.ovnHardwareOffload from a ClusterView, as the service
 * ovn-offload does.
 * Returns undefined if it is unknown which hosts are selected, because MachineConfigPools are unknown.
 */
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
