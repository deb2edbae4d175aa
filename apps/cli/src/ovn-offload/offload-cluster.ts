// SPDX-License-Identifier: Apache-2.0
/**
 * offloadCluster returns the cluster as it is when the service ovn-offload has done all that
 * SriovOperatorConfig.spec.ovnHardwareOffload requests: hosts have their labels, and policies for their SmartNICs exist.
 */
import { apiVersion, labels, taints, type Node, type SriovNetworkNodePolicy } from "@switchyard/api";
import { defaultSmartNicVfs, smartNicVfLimit } from "@switchyard/plan";
import { compareText } from "@switchyard/policy";
import {
  dnsEligibleLabel,
  isDnsEligible,
  managementPortCount,
  managementResource,
  offloadHostLabels,
  ovnHostLabels,
  ovnOffloadPolicy,
  ovnOffloadPolicyName,
  ownKeyAnnotation,
  plainHostLabel,
  proposalHostLabel,
  type ManagementPortCount,
} from "@switchyard/render";
import type { ClusterObjects } from "../cluster/cluster-objects.ts";
import { isOfKind } from "../cluster/kinds.ts";
import { withDefaults } from "../cluster/policy-defaults.ts";
import { checkAgainstCrd } from "../crd/check-against-crd.ts";
import type { JsonObject } from "../json.ts";
import { networkConfigMaps, readsManagementResource } from "../cluster/network-objects.ts";
import {
  poolLabelOf,
  selectInInput,
  type InputSelection,
  type SelectOptions,
  type SelectedPool,
} from "./select-in-input.ts";

export interface OffloadOptions extends SelectOptions {
  /** The namespace of the operator. */
  readonly namespace: string;
  readonly resourcePrefix: string;
}

export interface OffloadedCluster {
  readonly cluster: ClusterObjects;
  /** Undefined if ovn-offload does nothing in this cluster. */
  readonly offload?: Offload;
}

export interface Offload extends InputSelection {
  /** Policies that ovn-offload writes. */
  readonly policies: readonly SriovNetworkNodePolicy[];
  /** Nodes that were hosts and are not selected any more. */
  readonly leaving: readonly Node[];
}

export function offloadCluster(given: ClusterObjects, options: OffloadOptions): OffloadedCluster {
  const selection = selectInInput(given, options);
  if (selection === undefined) return { cluster: given };
  const { pools, unclear } = selection;
  const { namespace } = options;
  const managementVfs = managementPortsIn(given, selection.isOpenshift).count;
  const policies = pools.flatMap((pool) => policiesFor(pool, given, { namespace, managementVfs }));
  const written = new Set(policies.map(({ metadata }) => metadata.name));
  const poolOf = new Map(pools.flatMap((pool) => [...pool.hosts.keys()].map((node) => [node, pool] as const)));
  const isLeaving = (node: Node) => !poolOf.has(node.metadata.name) && !unclear.has(node.metadata.name);
  const nodes = given.nodes.map((node) => {
    const pool = poolOf.get(node.metadata.name);
    if (pool !== undefined) return asHost(node, { pool, given, selection, options });
    return isLeaving(node) ? asNoHost(node, given, selection) : node;
  });
  const used = new Set([...pools.map(({ name }) => name), ...nodes.map(poolLabelOf)]);
  const others = given.policies.filter(({ metadata }) => {
    const pool = metadata.labels?.[labels.ovnOffloadPool];
    return !written.has(metadata.name) && (pool === undefined || used.has(pool));
  });
  const leaving = given.nodes.filter((node) => poolLabelOf(node) !== undefined && isLeaving(node));
  return {
    cluster: { ...given, nodes, policies: [...others, ...policies] },
    offload: { ...selection, policies, leaving },
  };
}

/** One policy for each model of the pool's SmartNICs, with the defaults that the cluster fills in. */
function policiesFor(
  { name: pool, hosts }: SelectedPool,
  { policies }: ClusterObjects,
  { namespace, managementVfs }: { readonly namespace: string; readonly managementVfs: number },
): readonly SriovNetworkNodePolicy[] {
  const byModel = [...Map.groupBy(hosts.values(), ({ model }) => model)];
  return byModel
    .sort(([a], [b]) => compareText(a, b))
    .flatMap(([model, cards]) => {
      const name = ovnOffloadPolicyName(pool, model);
      const present = policies.find(({ metadata }) => metadata.name === name);
      const numVfs = defaultSmartNicVfs(cards.map(smartNicVfLimit), managementVfs);
      if (present === undefined && numVfs === 0) return [];
      const { metadata, spec } = ovnOffloadPolicy({ pool, model, namespace, numVfs, ...(present && { present }) });
      const kind = "SriovNetworkNodePolicy";
      const mutate = (object: JsonObject): JsonObject => withDefaults(object, present);
      const { object } = checkAgainstCrd({ apiVersion, kind, metadata, spec }, { kind, mutate });
      return isOfKind(object, kind) ? [object] : [];
    });
}

interface HostOptions {
  readonly pool: SelectedPool;
  readonly given: ClusterObjects;
  readonly selection: InputSelection;
  readonly options: OffloadOptions;
}

function asHost(node: Node, { pool, given, selection: { isOpenshift }, options }: HostOptions): Node {
  const own = withoutOwnLabels(node, given);
  const marked = { ...own, [labels.ovnOffloadPool]: pool.name, ...resourceLabel(given, isOpenshift, options) };
  if (!pool.isWhole) return withLabels(node, marked);
  const { labels: hostLabels, conflict } = ovnHostLabels(own, isOpenshift ? openshiftLabels(given) : undefined);
  if (conflict !== undefined) {
    const name = node.metadata.name;
    options.diagnostics.report(`Node/${name}: has label ${conflict}, so it cannot be the host of a SmartNIC, too`);
  }
  const files = isOpenshift ? {} : { [labels.ovnOffloadFiles]: "daemon" };
  const labelled = withLabels(node, { ...marked, ...files, ...hostLabels });
  return pool.taint === undefined ? labelled : withTaint(labelled, pool.taint);
}

function asNoHost(node: Node, given: ClusterObjects, { isOpenshift, pools }: InputSelection): Node {
  const others = withoutOwnLabels(node, given);
  const needsDns = isOpenshift && pools.some(({ hosts }) => hosts.size > 0);
  const plain = withLabels(node, others);
  const { spec: { taints: all = [], ...spec } = {} } = node;
  const kept = all.filter(({ key }) => key !== taints.ovnOffload);
  const bare = kept.length === all.length ? plain : { ...plain, spec: { ...spec, taints: kept } };
  return needsDns && isDnsEligible(bare) ? withLabels(bare, { ...others, [dnsEligibleLabel]: "" }) : bare;
}

/** Host labels of a node that has no ovnOffloadPool belong to others. */
function withoutOwnLabels(node: Node, given: ClusterObjects): Readonly<Record<string, string>> {
  const present = Object.entries(node.metadata.labels ?? {});
  const ofHosts = [proposalHostLabel, plainHostLabel, openshiftLabels(given).dpuHost.key];
  const own = new Set<string>([
    labels.ovnOffloadPool,
    labels.ovnManagementResource,
    labels.ovnManagementVfs,
    labels.ovnOffloadFiles,
    dnsEligibleLabel,
  ]);
  if (poolLabelOf(node) !== undefined) for (const key of ofHosts) own.add(key);
  return Object.fromEntries(present.filter(([key]) => !own.has(key)));
}

function resourceLabel(given: ClusterObjects, isOpenshift: boolean, { resourcePrefix, diagnostics }: OffloadOptions) {
  if (!isOpenshift || !readsManagementResource(given.network)) return {};
  const { dataOf, annotationsOf } = given.network;
  const { resource, problem } = managementResource(dataOf(networkConfigMaps.hardwareOffload), {
    prefix: resourcePrefix,
    isWanted: true,
    isOwn: annotationsOf(networkConfigMaps.hardwareOffload)[ownKeyAnnotation] !== undefined,
  });
  const { count, problem: countProblem } = managementPortsIn(given, isOpenshift);
  for (const text of [problem, countProblem]) if (text !== undefined) diagnostics.report(text);
  return {
    ...(resource !== undefined && { [labels.ovnManagementResource]: resource }),
    ...(count > 1 && { [labels.ovnManagementVfs]: String(count) }),
  };
}

function managementPortsIn({ network }: ClusterObjects, isOpenshift: boolean): ManagementPortCount {
  if (!isOpenshift || !readsManagementResource(network)) return { count: 1 };
  return managementPortCount(network.dataOf(networkConfigMaps.hardwareOffload));
}

function openshiftLabels({ network }: ClusterObjects) {
  return offloadHostLabels(network.dataOf(networkConfigMaps.hardwareOffload));
}

function withLabels(node: Node, all: Readonly<Record<string, string>>): Node {
  return { ...node, metadata: { ...node.metadata, labels: all } };
}

function withTaint(node: Node, effect: "NoSchedule"): Node {
  const others = (node.spec?.taints ?? []).filter(({ key }) => key !== taints.ovnOffload);
  return { ...node, spec: { ...node.spec, taints: [...others, { key: taints.ovnOffload, effect }] } };
}
