// SPDX-License-Identifier: Apache-2.0
/**
 * offloadNetworks decides which NetworkAttachmentDefinitions give pods a VF of a SmartNIC as their default interface. Their plugin
 * is that of OVN-Kubernetes, and the annotation makes Multus pass the VF to it (smartnic.md 3.1). One object names one resource.
 */
import { annotations, type NetworkAttachmentDefinition } from "@switchyard/api";
import { parseJsonObject } from "../networks/parse-json.ts";
import { isOfOvnOffload, ovnOffloadMark } from "./offload-policy.ts";

/** Where the NetworkAttachmentDefinitions are. Further resources get names that begin with `name`. */
export interface OffloadNetworkName {
  readonly namespace: string;
  readonly name: string;
}

/** The name in the documentation of OVN-Kubernetes and of OpenShift. */
export const defaultOffloadNetwork: OffloadNetworkName = { namespace: "default", name: "default" };

/** What ovn-offload reads of a NetworkAttachmentDefinition. */
export interface PresentOffloadNetwork {
  readonly name: string;
  readonly resourceVersion: string;
  /** Whether ovn-offload created it. */
  readonly isOwn: boolean;
  /** Value of the resource annotation; "" without one. */
  readonly resource: string;
  /** Whether the plugin of OVN-Kubernetes attaches its pods to the cluster's default network. */
  readonly isDefaultNetwork: boolean;
  /** Whether the configuration is the one of this release. */
  readonly isCurrent: boolean;
}

/** A NetworkAttachmentDefinition, and the resourceVersion of the stored one that it replaces. */
export interface OffloadNetworkWrite {
  readonly network: NetworkAttachmentDefinition;
  readonly resourceVersion: string | undefined;
}

export interface OffloadNetworks {
  /** All that ovn-offload has, or should have. */
  readonly networks: readonly NetworkAttachmentDefinition[];
  /** Those of `networks` that are not stored like this. */
  readonly writes: readonly OffloadNetworkWrite[];
  /** Those that ovn-offload created and that no resource needs. */
  readonly unneeded: readonly PresentOffloadNetwork[];
  /** Sentences about names that are taken. */
  readonly problems: readonly string[];
}

/** `resources` are full names, such as "openshift.io/bluefield2"; `present` are the objects in the namespace of `at`. */
export function offloadNetworks(
  resources: readonly string[],
  present: readonly PresentOffloadNetwork[],
  at: OffloadNetworkName,
): OffloadNetworks {
  const byName = new Map(present.map((one) => [one.name, one]));
  const problems: string[] = [];
  const networks: NetworkAttachmentDefinition[] = [];
  const writes: OffloadNetworkWrite[] = [];
  const needed = new Set<string>();
  for (const [name, resource] of namesOf(resources, byName.get(at.name), at.name)) {
    const stored = byName.get(name);
    needed.add(name);
    if (stored !== undefined && !stored.isOwn) {
      if (!stored.isDefaultNetwork || stored.resource !== resource) problems.push(takenText(name, resource, at));
      continue;
    }
    const network = offloadNetwork(name, resource, at.namespace);
    networks.push(network);
    if (stored?.resource === resource && stored.isCurrent) continue;
    writes.push({ network, resourceVersion: stored?.resourceVersion });
  }
  const unneeded = present.filter(({ name, isOwn }) => isOwn && !needed.has(name));
  return { networks, writes, unneeded, problems };
}

interface StoredNetwork {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: { readonly config?: unknown };
}

/** Reads what ovn-offload needs to know of a stored NetworkAttachmentDefinition. Its configuration can be any text. */
export function presentOffloadNetwork({ metadata, spec }: StoredNetwork): PresentOffloadNetwork {
  const text = typeof spec?.config === "string" ? spec.config : "";
  const parsed = parseJsonObject(text);
  const valueOf = (key: string) => (parsed.ok ? parsed.value.members.get(key) : undefined);
  return {
    name: metadata.name,
    resourceVersion: metadata.resourceVersion ?? "",
    isOwn: isOfOvnOffload({ metadata }),
    resource: metadata.annotations?.[annotations.resourceName] ?? "",
    isDefaultNetwork: valueOf("type") === plugin && (valueOf("topology") ?? "") === "",
    isCurrent: text === offloadNetworkConfig,
  };
}

/** Name of the CNI plugin of OVN-Kubernetes. */
const plugin = "ovn-k8s-cni-overlay";

/** Without `topology`, OVN-Kubernetes attaches the pod to the default network of the cluster, whatever the name is. */
export const offloadNetworkConfig = JSON.stringify({
  cniVersion: "0.3.1",
  name: "ovn-kubernetes",
  type: plugin,
  ipam: {},
  dns: {},
});

/**
 * The first resource has the plain name, so that a cluster with one model has one name. A stored object keeps its resource, since
 * pods name it.
 */
function namesOf(
  resources: readonly string[],
  plain: PresentOffloadNetwork | undefined,
  name: string,
): ReadonlyMap<string, string> {
  const sorted = [...new Set(resources)].sort();
  const first = sorted.find((resource) => resource === plain?.resource) ?? sorted[0];
  const names = new Map<string, string>();
  if (first !== undefined) names.set(name, first);
  for (const resource of sorted) {
    if (resource !== first) names.set(`${name}-${nameOf(resource)}`, resource);
  }
  return names;
}

/** Names of resources have underscores and capitals, which names of objects cannot have. */
function nameOf(resource: string): string {
  return resource
    .slice(resource.indexOf("/") + 1)
    .toLowerCase()
    .replaceAll("_", "-");
}

function offloadNetwork(name: string, resource: string, namespace: string): NetworkAttachmentDefinition {
  return {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { name, namespace, labels: ovnOffloadMark, annotations: { [annotations.resourceName]: resource } },
    spec: { config: offloadNetworkConfig },
  };
}

function takenText(name: string, resource: string, { namespace }: OffloadNetworkName): string {
  return (
    `NetworkAttachmentDefinition ${namespace}/${name} was created by another program and does not attach pods by ` +
    `${plugin} with the resource ${resource}: rename it, or choose another name by ovnOffload.network of the chart`
  );
}
