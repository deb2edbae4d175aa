// SPDX-License-Identifier: Apache-2.0
/**
 * renderOffload renders the objects that the service ovn-offload writes for SriovOperatorConfig.spec.ovnHardwareOffload, as
 * they are when the hosts have booted and OVN runs on their SmartNICs. Of objects that others also write, only the fields are
 * printed that ovn-offload sets.
 */
import { defined, dnses, labels, taints, type Node } from "@switchyard/api";
import {
  defaultOffloadNetwork,
  dnsEligibleLabel,
  dnsPlacement,
  envOverridesPatch,
  managementPortsPatch,
  managementResource,
  managementResourceKey,
  offloadHostLabels,
  offloadNetworks,
  ovnOffloadMachineConfig,
  ownKeyAnnotation,
  plainHostLabel,
  proposalHostLabel,
  type ConfigMapName,
} from "@switchyard/render";
import type { ClusterObjects } from "../cluster/cluster-objects.ts";
import type { Rendered } from "../cluster/render-cluster.ts";
import type { Diagnostics } from "../terminal.ts";
import { networkConfigMaps, readsManagementResource } from "../cluster/network-objects.ts";
import type { Offload } from "./offload-cluster.ts";

/** The kinds of the rendered objects. */
export const offloadKinds: readonly string[] = [
  "ConfigMap",
  "DNS",
  "MachineConfig",
  "NetworkAttachmentDefinition",
  "Node",
  "SriovNetworkNodePolicy",
];

export interface RenderOffloadOptions {
  readonly resourcePrefix: string;
  readonly diagnostics: Diagnostics;
}

/** `cluster` is the result of offloadCluster. */
export function renderOffload(
  offload: Offload,
  cluster: ClusterObjects,
  options: RenderOffloadOptions,
): readonly Rendered[] {
  const { pools, policies, isOpenshift } = offload;
  const whole = pools.filter(({ isWhole, hosts }) => isWhole && hosts.size > 0);
  const configs = whole.flatMap(({ name, role }) =>
    role === undefined ? [] : [ovnOffloadMachineConfig({ name, role })],
  );
  const hosts = new Set(whole.flatMap((pool) => [...pool.hosts.keys()]));
  return [
    ...policies,
    ...configs,
    ...networksOf(policies, cluster, options),
    ...nodesOf(offload, cluster),
    ...portMaps(hosts, offload, cluster, options),
    ...(isOpenshift && hosts.size > 0 ? [...resourceMap(cluster, options), ...dns(cluster, options)] : []),
  ];
}

/** The networks by which pods get a VF of a SmartNIC as their default interface. */
function networksOf(
  policies: Offload["policies"],
  { network }: ClusterObjects,
  { resourcePrefix, diagnostics }: RenderOffloadOptions,
): readonly Rendered[] {
  const resources = policies.map(({ spec }) => `${resourcePrefix}/${spec.resourceName}`);
  const { networks, problems } = offloadNetworks(resources, network.networks, defaultOffloadNetwork);
  for (const problem of problems) diagnostics.report(problem);
  return networks;
}

/** Labels and taints of ovn-offload on each node that has one. */
function nodesOf({ pools }: Offload, cluster: ClusterObjects): readonly Rendered[] {
  const hosts = new Set(pools.flatMap((pool) => [...pool.hosts.keys()]));
  const hostLabel = offloadHostLabels(cluster.network.dataOf(networkConfigMaps.hardwareOffload)).dpuHost.key;
  const ownKeys = [labels.ovnOffloadPool, labels.ovnManagementResource, labels.ovnOffloadFiles];
  const ofHosts: readonly string[] = [...ownKeys, proposalHostLabel, plainHostLabel, hostLabel];
  return cluster.nodes.flatMap((node: Node) => {
    const { name, labels: all = {} } = node.metadata;
    const keys = hosts.has(name) ? ofHosts : [dnsEligibleLabel];
    const own = Object.entries(all).filter(([key]) => keys.includes(key));
    if (own.length === 0) return [];
    const tainted = hosts.has(name) ? (node.spec?.taints ?? []).filter(({ key }) => key === taints.ovnOffload) : [];
    const metadata = { name, labels: Object.fromEntries(own) };
    return [{ apiVersion: "v1", kind: "Node", metadata, ...(tainted.length > 0 && { spec: { taints: tainted } }) }];
  });
}

/** The name of VF 0 of each host. */
function portMaps(
  hosts: ReadonlySet<string>,
  { isOpenshift, unclear }: Offload,
  { network }: ClusterObjects,
  { diagnostics }: RenderOffloadOptions,
): readonly Rendered[] {
  const wanted = { published: hosts, kept: unclear };
  const { managementPorts, plainManagementPorts, envOverrides } = networkConfigMaps;
  const ports = isOpenshift ? managementPorts : plainManagementPorts;
  const maps: readonly (readonly [ConfigMapName, typeof managementPortsPatch])[] = [
    [ports, managementPortsPatch],
    ...(isOpenshift && !readsManagementResource(network) ? ([[envOverrides, envOverridesPatch]] as const) : []),
  ];
  return maps.flatMap(([name, patchOf]) => {
    const present = network.dataOf(name);
    const { patch, foreign } = patchOf(present, wanted);
    for (const node of foreign) {
      diagnostics.report(
        `ConfigMap/${name.namespace}/${name.name}: ${node}: has a value that is not ovn-offload's; it stays`,
      );
    }
    const after = { ...present, ...patch };
    const own = Object.entries(after).filter(([node]) => hosts.has(node) && !foreign.includes(node));
    return own.length === 0 ? [] : [configMap(name, Object.fromEntries(own))];
  });
}

/** The resource of VF 0, if no administrator has chosen one. */
function resourceMap({ network }: ClusterObjects, { resourcePrefix }: RenderOffloadOptions): readonly Rendered[] {
  if (!readsManagementResource(network)) return [];
  const name = networkConfigMaps.hardwareOffload;
  const isOwn = network.annotationsOf(name)[ownKeyAnnotation] !== undefined;
  const present = isOwn ? {} : network.dataOf(name);
  const { patch } = managementResource(present, { prefix: resourcePrefix, isWanted: true, isOwn });
  if (Object.keys(patch).length === 0) return [];
  return [configMap(name, patch, { [ownKeyAnnotation]: managementResourceKey })];
}

function dns({ network, nodes }: ClusterObjects, { diagnostics }: RenderOffloadOptions): readonly Rendered[] {
  const wish = dnsPlacement(network.dns, nodes);
  if (wish.state === "change") return [dnsManifest(wish.patch.spec, wish.patch.metadata)];
  if (wish.state === "unchanged") {
    const { nodeSelector } = network.dns.spec?.nodePlacement ?? {};
    return [dnsManifest({ nodePlacement: { nodeSelector } })];
  }
  const why =
    wish.state === "unmanaged" ? "spec.managementState is Unmanaged" : "no schedulable node is left for pods of DNS";
  diagnostics.note(`DNS/default: ${why}, so its nodePlacement stays as it is`);
  return [];
}

function dnsManifest(spec: object, metadata: object = {}) {
  const { group, version, kind } = dnses;
  return { apiVersion: `${group}/${version}`, kind, metadata: { name: "default", ...metadata }, spec };
}

function configMap(
  { namespace, name }: ConfigMapName,
  data: Readonly<Record<string, string | null>>,
  annotations?: Readonly<Record<string, string>>,
) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace, ...defined({ annotations }) }, data };
}
