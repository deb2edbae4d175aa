// SPDX-License-Identifier: Apache-2.0
/**
 * decide returns what ovn-offload must write now, and the status. It is a pure function of the cluster: called again with what
 * the writes have changed, it goes on, and with nothing left to do it returns no writes (docs/guide/ovn-offload.md).
 */
import { annotations, labels, taints } from "@switchyard/api";
import { selectOffloadPools, type OffloadPool } from "@switchyard/policy";
import {
  dnsEligibleLabel,
  dnsPlacement,
  dnsPlacementBefore,
  isDnsEligible,
  managementPortEntry,
  offloadHostLabels,
  restoredDnsPlacement,
  type DnsPlacement,
} from "@switchyard/render";
import { decideConfigMaps, isResourceRestored, managementPortsPerHost } from "./decide-config-maps.ts";
import { decideMachineConfigs } from "./decide-machine-configs.ts";
import { decideNetworks } from "./decide-networks.ts";
import { decidePolicies } from "./decide-policies.ts";
import { assignHosts, keptHosts, needsShared, type AssignedHost } from "./host.ts";
import { hostState, renderedSources } from "./host-state.ts";
import { isConfigured, wantedLabels, type SharedState } from "./host-labels.ts";
import type { ObservedCluster, ObservedNode, OffloadWrite, UnknownEntries } from "./observed.ts";
import { offloadStatuses, type OffloadStatuses } from "./offload-statuses.ts";

export interface Decision extends OffloadStatuses {
  readonly writes: readonly OffloadWrite[];
}

export function decide(observed: ObservedCluster): Decision {
  const { entries, nodes, machineConfigPools, reportOf } = observed;
  if (isUnknown(entries)) return keepAll(observed, entries);
  const selection = selectOffloadPools({
    entries,
    nodes,
    machineConfigPools,
    interfacesOf: (node) => reportOf(node)?.interfaces,
    networkOf: (node) => reportOf(node)?.hostNetwork,
  });
  const ports = managementPortsPerHost(observed);
  const hosts = assignHosts(factsOf(observed, ports.count), selection, {
    isKindMissing: isKindMissing(observed),
    names: machineConfigPools && new Set(machineConfigPools.map(({ metadata }) => metadata.name)),
    entries,
  });
  const isNeeded = hosts.some(needsShared);
  const eligible = dnsNodes(observed, hosts);
  const dns = placeDns(observed, { isNeeded, eligible });
  const maps = decideConfigMaps(observed, hosts);
  const isRestored = restoredPools(observed, selection.pools, { hosts, isNeeded });
  const shared: SharedState = {
    openshift: machineConfigPools && offloadHostLabels(observed.configMaps.hardwareOffload.present?.data ?? {}),
    resource: maps.resource,
    managementVfs: ports.count,
    isDnsPlaced: dns?.state !== "change",
    isRestored,
  };
  const pools = isKindMissing(observed) ? [] : selection.pools;
  const configs = decideMachineConfigs({ observed, pools, hosts, isDnsPlaced: shared.isDnsPlaced });
  const labelled = labelNodes(observed, hosts, { shared, isNeeded, eligible });
  const policies = decidePolicies(observed, selection.pools, { hosts, managementVfs: ports.count });
  const networks = decideNetworks(observed, hosts);
  const writes: readonly OffloadWrite[] = [
    ...labelled.writes,
    ...taintNodes(hosts, selection.pools).filter(({ node }) => !labelled.nodes.has(node)),
    ...policies.writes,
    ...networks.writes,
    ...maps.writes,
    ...(labelled.isDnsReady ? writeDns(observed, dns) : []),
    ...configs.writes,
  ];
  return {
    writes: isKindMissing(observed) ? [] : writes,
    ...offloadStatuses({
      hosts,
      pools: selection.pools,
      problems: selection.problems,
      configs,
      conflicts: labelled.conflicts,
      waitingPodsOf: observed.waitingPodsOf,
      clusterProblems: [
        ...maps.problems,
        ...(ports.problem !== undefined && isNeeded ? [ports.problem] : []),
        ...policies.problems,
        ...networks.problems,
        ...(shared.openshift?.problems ?? []),
        ...(dns?.state === "no-node" && isNeeded ? ["no node is left on which pods of DNS could run"] : []),
      ],
    }),
  };
}

function isUnknown(entries: ObservedCluster["entries"]): entries is UnknownEntries {
  return typeof entries === "string";
}

/** Without entries nothing is written: what is shared by the hosts stays, too, and a pool's policy without a host. */
function keepAll(observed: ObservedCluster, entries: UnknownEntries): Decision {
  const hosts = keptHosts(factsOf(observed, managementPortsPerHost(observed).count), entries);
  const none = { waiting: new Map(), held: new Map(), refused: new Map() };
  return {
    writes: [],
    ...offloadStatuses({
      hosts,
      pools: [],
      problems: [],
      clusterProblems: [],
      configs: none,
      conflicts: new Map(),
      waitingPodsOf: observed.waitingPodsOf,
    }),
  };
}

/** Reports whether the machines are configured by MachineConfigs, but their kinds are not served at the moment. */
function isKindMissing({ machineConfigPools, nodes }: ObservedCluster): boolean {
  return (
    machineConfigPools === undefined &&
    nodes.some(({ metadata }) => metadata.annotations?.[annotations.currentMachineConfig] !== undefined)
  );
}

function factsOf({ nodes, reportOf, machineConfigPools = [], configMaps }: ObservedCluster, managementVfs: number) {
  const sources = renderedSources(machineConfigPools);
  const data = configMaps.managementPorts.present?.data ?? {};
  const own = managementPortEntry();
  return nodes.map((node) => {
    const { name } = node.metadata;
    const facts = hostState(node, { report: reportOf(name), managementVfs, sources, isPublished: data[name] === own });
    // Without the namespace of OVN-Kubernetes there is no ConfigMap to publish in: the label is enough.
    return configMaps.managementPorts.isPossible ? facts : { ...facts, isPublished: facts.isApplied === true };
  });
}

/** Returns the nodes on which pods of DNS can run: those that are no hosts and do not lose Open vSwitch with their pool. */
function dnsNodes({ nodes, machineConfigs }: ObservedCluster, hosts: readonly AssignedHost[]): readonly ObservedNode[] {
  const configured = new Set(machineConfigs.map(({ pool }) => pool));
  const without = new Set(
    hosts
      .filter(({ direction, isApplied, pool }) => isApplied === true || (direction !== "leave" && configured.has(pool)))
      .map(({ name }) => name),
  );
  return nodes.filter((node) => isDnsEligible(node) && !without.has(node.metadata.name));
}

function placeDns(
  { dns }: ObservedCluster,
  { isNeeded, eligible }: Pick<Labelling, "isNeeded" | "eligible">,
): DnsPlacement | undefined {
  if (dns === undefined) return undefined;
  return isNeeded ? dnsPlacement(dns, eligible) : restoredDnsPlacement(dns);
}

function writeDns({ dns }: ObservedCluster, wish: DnsPlacement | undefined): readonly OffloadWrite[] {
  if (dns === undefined || wish?.state !== "change") return [];
  return [{ kind: "patch-dns", resourceVersion: dns.metadata.resourceVersion, patch: wish.patch }];
}

/** Returns a function that tells whether nothing needs the first label of a pool's hosts any more. */
function restoredPools(
  observed: ObservedCluster,
  pools: readonly OffloadPool[],
  { hosts, isNeeded }: { readonly hosts: readonly AssignedHost[]; readonly isNeeded: boolean },
): (pool: string) => boolean {
  const isShared =
    isNeeded ||
    (observed.dns?.metadata.annotations?.[dnsPlacementBefore] === undefined && isResourceRestored(observed.configMaps));
  // The policies of a selected pool stay for its next host, with what users changed in them.
  const used = new Set([...hosts.filter(needsShared).map(({ pool }) => pool), ...pools.map(({ name }) => name)]);
  const withPolicy = new Set(observed.policies.map(({ metadata }) => metadata.labels?.[labels.ovnOffloadPool]));
  return (pool) => isShared && (used.has(pool) || !withPolicy.has(pool));
}

type LabelNode = Extract<OffloadWrite, { readonly kind: "label-node" }>;
type TaintNode = Extract<OffloadWrite, { readonly kind: "taint-node" }>;

interface Labelling {
  readonly shared: SharedState;
  readonly isNeeded: boolean;
  /** The nodes on which pods of DNS can run. */
  readonly eligible: readonly ObservedNode[];
}

function labelNodes(
  observed: ObservedCluster,
  hosts: readonly AssignedHost[],
  { shared, isNeeded, eligible }: Labelling,
) {
  const byName = new Map(hosts.map((host) => [host.name, host]));
  const conflicts = new Map<string, string>();
  const hasDns = observed.dns !== undefined;
  const canRunDns = new Set(eligible);
  // The label stays until the placement is restored: else DNS would match no node.
  const isDnsUsed = isNeeded || observed.dns?.metadata.annotations?.[dnsPlacementBefore] !== undefined;
  const writes = observed.nodes.flatMap((node): readonly LabelNode[] => {
    const host = byName.get(node.metadata.name);
    const wanted = host === undefined ? { labels: {} } : wantedLabels(host, shared);
    if (wanted.conflict !== undefined) conflicts.set(node.metadata.name, wanted.conflict);
    // The label decides where pods of DNS run. It stays while DNS or its kind is absent.
    const isWanted = hasDns ? isDnsUsed : node.ownLabels.includes(dnsEligibleLabel);
    const isEligible = isWanted && canRunDns.has(node) && wanted.labels[labels.ovnOffloadPool] === undefined;
    const all = isEligible ? { ...wanted.labels, [dnsEligibleLabel]: "" } : wanted.labels;
    if (hasLabels(node, all)) return [];
    return [{ kind: "label-node", node: node.metadata.name, uid: node.metadata.uid ?? "", labels: all }];
  });
  const isDnsReady = !isNeeded || eligible.every(({ metadata }) => metadata.labels?.[dnsEligibleLabel] === "");
  return { writes, nodes: new Set(writes.map(({ node }) => node)), conflicts, isDnsReady };
}

function hasLabels({ metadata, ownLabels }: ObservedNode, wanted: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(wanted);
  return (
    keys.length === ownLabels.length &&
    keys.every((key) => ownLabels.includes(key) && metadata.labels?.[key] === wanted[key])
  );
}

/** A node whose labels are written at the same time gets its taint later, since its resourceVersion changes. */
function taintNodes(hosts: readonly AssignedHost[], pools: readonly OffloadPool[]): readonly TaintNode[] {
  const effects = new Map(pools.map(({ name, taint }) => [name, taint]));
  return hosts.flatMap((host): readonly TaintNode[] => {
    if (host.direction === "stay" || host.marker === undefined) return [];
    const effect = host.direction === "enter" ? effects.get(host.pool) : undefined;
    const isWanted = effect !== undefined && isConfigured(host);
    const isKept = host.direction === "leave" && host.isApplied !== false;
    if (isKept || isWanted === host.isTainted) return [];
    const others = (host.node.spec?.taints ?? []).filter(({ key }) => key !== taints.ovnOffload);
    const own = effect !== undefined && isWanted ? [{ key: taints.ovnOffload, effect }] : [];
    const { resourceVersion } = host.node.metadata;
    return [{ kind: "taint-node", node: host.name, resourceVersion, taints: [...others, ...own] }];
  });
}
