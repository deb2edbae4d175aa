// SPDX-License-Identifier: Apache-2.0
/**
 * suggestObjects turns the free PFs of a cluster into policies, networks and pools. PFs with the same card, port and link type get
 * one policy, with a label that their nodes have and that no node has on which such a PF is left out.
 */
import type { InterfaceStatus, Node } from "@switchyard/api";
import { matchesNic } from "@switchyard/policy";
import type { ClusterObjects } from "../cluster/cluster-objects.ts";
import { freePfs, silentNodes, unknownUse, type NodePf, type SurveyedPf } from "./free-pfs.ts";

/** An object of the answer, and why it is there. */
export interface SuggestedObject {
  readonly comment: readonly string[];
  readonly object: Readonly<Record<string, unknown>>;
}

export interface Suggestion {
  readonly objects: readonly SuggestedObject[];
  /** Policies and networks for PFs that would be free if the host does not use them, which is not known. */
  readonly doubtful: readonly SuggestedObject[];
  /** PFs without a suggestion. */
  readonly leftOut: readonly SurveyedPf[];
  /** Nodes that have not reported their NICs. */
  readonly silentNodes: readonly string[];
}

/** VFs of a new policy: few enough for the queues, interrupts and filters of all supported cards. */
const defaultNumVfs = 8;

/** With so many nodes, drains of one node after the other take too long. */
const manyNodes = 10;

const apiVersion = "sriovnetwork.openshift.io/v1";

export function suggestObjects(cluster: ClusterObjects, namespace: string): Suggestion {
  const surveyed = freePfs(cluster);
  const free = surveyed.filter(({ leftOut }) => leftOut === undefined);
  const unknown = surveyed.filter(({ leftOut }) => leftOut === unknownUse);
  const silent = silentNodes(cluster);
  const leftOut = surveyed.filter((one) => one.leftOut !== undefined && one.leftOut !== unknownUse);
  const taken = new Set(cluster.policies.map(({ metadata }) => metadata.name));
  const resources = new Set(cluster.policies.map(({ spec }) => spec.resourceName));
  const given = { cluster, namespace, silent, taken, resources };
  return {
    objects: [
      ...objectsFor(free, { ...given, barred: [...leftOut, ...unknown] }),
      ...poolFor(free, cluster, namespace),
    ],
    doubtful: objectsFor(unknown, { ...given, barred: leftOut }),
    leftOut,
    silentNodes: silent.map(({ metadata }) => metadata.name),
  };
}

/** Policies and networks for PFs. Names in `taken` and `resources` are in use, and those of the result are added. */
function objectsFor(
  pfs: readonly NodePf[],
  {
    cluster,
    namespace,
    barred,
    silent,
    taken,
    resources,
  }: {
    readonly cluster: ClusterObjects;
    readonly namespace: string;
    readonly barred: readonly SurveyedPf[];
    readonly silent: readonly Node[];
    readonly taken: Set<string>;
    readonly resources: Set<string>;
  },
): readonly SuggestedObject[] {
  const groups = Map.groupBy(pfs, ({ name, pf }) => JSON.stringify([pf.vendor, pf.deviceID, pf.linkType ?? "", name]));
  return [...groups.values()].flatMap((members) => {
    const [first] = members;
    if (first === undefined) return [];
    const selectors = nodeSelectors(members, { barred, silent, all: cluster.nodes });
    const base = unique(`sriov_${first.name.toLowerCase().replace(/[^a-z0-9]+/g, "_")}`, resources);
    const policies = selectors.map(({ selector, nodes }) => {
      const ofSelector = members.filter(({ node }) => nodes.has(node.metadata.name));
      const suffix = selectors.length === 1 ? "" : `-${[...nodes][0] ?? ""}`;
      const name = unique(`${base.replaceAll("_", "-")}${suffix}`, taken);
      return policyFor({ name, namespace, resourceName: base, selector, first, members: ofSelector });
    });
    return [...policies, networkFor(first.pf, base, namespace)];
  });
}

function policyFor(options: {
  readonly name: string;
  readonly namespace: string;
  readonly resourceName: string;
  readonly selector: Readonly<Record<string, string>>;
  /** A PF of the group, all of which have the same card, name and link type. */
  readonly first: NodePf;
  readonly members: readonly NodePf[];
}): SuggestedObject {
  const { name, namespace, resourceName, selector, members } = options;
  const { pf, name: pfName } = options.first;
  const total = Math.min(...members.map((member) => member.pf.totalvfs ?? 0));
  const numVfs = Math.min(defaultNumVfs, total);
  const isInfiniBand = pf.linkType?.toUpperCase() === "IB";
  return {
    comment: [
      `${pfName} (${pf.vendor ?? ""}:${pf.deviceID ?? ""}, driver ${pf.driver ?? "unknown"}) of ${nodesText(members)}.`,
      `The PFs support ${total} VFs and have none, so creating ${numVfs} VFs drains no node.`,
      ...(isInfiniBand ? ["VFs of InfiniBand ports need isRdma."] : []),
    ],
    object: {
      apiVersion,
      kind: "SriovNetworkNodePolicy",
      metadata: { name, namespace },
      spec: {
        resourceName,
        nodeSelector: selector,
        numVfs,
        nicSelector: { vendor: pf.vendor, deviceID: pf.deviceID, pfNames: [pfName] },
        ...(isInfiniBand && { linkType: "IB", isRdma: true }),
      },
    },
  };
}

function networkFor(pf: InterfaceStatus, resourceName: string, namespace: string): SuggestedObject {
  const isInfiniBand = pf.linkType?.toUpperCase() === "IB";
  return {
    comment: [
      `Pods of the namespace "default" get a VF of ${resourceName} by the annotation k8s.v1.cni.cncf.io/networks.`,
      "Set networkNamespace to the namespace of your pods, and ipam to your addresses.",
      ...(isInfiniBand
        ? ["The ports of VFs stay down until linkState is enable, or the subnet manager supports virtualization."]
        : []),
    ],
    object: {
      apiVersion,
      kind: isInfiniBand ? "SriovIBNetwork" : "SriovNetwork",
      metadata: { name: resourceName.replaceAll("_", "-"), namespace },
      spec: { resourceName, networkNamespace: "default", ...(isInfiniBand && { linkState: "enable" }) },
    },
  };
}

function poolFor(free: readonly NodePf[], { pools }: ClusterObjects, namespace: string): readonly SuggestedObject[] {
  const nodes = [...new Map(free.map(({ node }) => [node.metadata.name, node])).values()];
  if (nodes.length < manyNodes || pools.length > 0) return [];
  const [label] = sharedLabels(nodes);
  if (label === undefined) return [];
  const [key, value] = label;
  return [
    {
      comment: [
        `${nodes.length} nodes get VFs. Without a pool, later changes drain one node after the other.`,
        "With this pool, a tenth of its nodes can drain at the same time.",
      ],
      object: {
        apiVersion,
        kind: "SriovNetworkPoolConfig",
        metadata: { name: "sriov-nodes", namespace },
        spec: { nodeSelector: { matchLabels: { [key]: value } }, maxUnavailable: "10%" },
      },
    },
  ];
}

interface SelectedNodes {
  readonly selector: Readonly<Record<string, string>>;
  readonly nodes: ReadonlySet<string>;
}

/** One label for all nodes of the group, or the hostname of each if no label tells them from nodes whose PF is left out. */
function nodeSelectors(
  members: readonly NodePf[],
  {
    barred,
    silent,
    all,
  }: {
    readonly barred: readonly SurveyedPf[];
    readonly silent: readonly Node[];
    readonly all: readonly Node[];
  },
): readonly SelectedNodes[] {
  const [first] = members;
  if (first === undefined) return [];
  const { pf, name } = first;
  const selector = { vendor: pf.vendor ?? "", deviceID: pf.deviceID ?? "", pfNames: [name] };
  const own = new Set(members.map(({ node }) => node.metadata.name));
  const avoided = new Set(barred.filter((one) => matchesNic(selector, one.pf)).map(({ node }) => node.metadata.name));
  const others = [...silent, ...all.filter((node) => avoided.has(node.metadata.name))];
  const label = sharedLabels(members.map(({ node }) => node)).find(([key, value]) => {
    return others.every(({ metadata }) => metadata.labels?.[key] !== value);
  });
  if (label !== undefined) return [{ selector: { [label[0]]: label[1] }, nodes: own }];
  return [...own].map((node) => ({ selector: { [hostname]: hostnameOf(all, node) }, nodes: new Set([node]) }));
}

const hostname = "kubernetes.io/hostname";

function hostnameOf(all: readonly Node[], name: string): string {
  return all.find(({ metadata }) => metadata.name === name)?.metadata.labels?.[hostname] ?? name;
}

/** Labels that all nodes have, those that say most about SR-IOV first. Labels of one machine are no choice for a fleet. */
function sharedLabels(nodes: readonly Node[]): readonly (readonly [string, string])[] {
  const [first, ...others] = nodes;
  const shared = Object.entries(first?.metadata.labels ?? {}).filter(([key, value]) => {
    return key !== hostname && others.every(({ metadata }) => metadata.labels?.[key] === value);
  });
  const rank = (key: string) => {
    const at = preferred.indexOf(key);
    return at === -1 ? preferred.length : at;
  };
  return shared.sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

const preferred = [
  "feature.node.kubernetes.io/network-sriov.capable",
  "node-role.kubernetes.io/worker",
  "node.kubernetes.io/instance-type",
];

function nodesText(members: readonly NodePf[]): string {
  const names = members.map(({ node }) => node.metadata.name);
  if (names.length === 1) return `node ${names[0] ?? ""}`;
  const shown = names.slice(0, 4).join(", ");
  return names.length > 4 ? `${names.length} nodes (${shown}, …)` : `${names.length} nodes (${shown})`;
}

/** A name that is not in `taken` yet; it is then. */
function unique(name: string, taken: Set<string>): string {
  let candidate = name;
  const separator = name.includes("_") ? "_" : "-";
  for (let at = 2; taken.has(candidate); at++) candidate = `${name}${separator}${at}`;
  taken.add(candidate);
  return candidate;
}
