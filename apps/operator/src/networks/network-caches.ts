// SPDX-License-Identifier: Apache-2.0
/**
 * What is kept of networks, of NetworkAttachmentDefinitions and of namespaces, in all of the cluster. Networks and NADs
 * may be kinds that the cluster does not have: without Multus there are no NADs, and Helm adds no CRD when it upgrades.
 * Usage: `const caches = { …, ...watchNetworks({ transport, report }) };`
 */
import {
  annotations as annotationKeys,
  bridgeNetworks,
  namespaces,
  networkAttachmentDefinitions,
  ovsNetworks,
  sriovIBNetworks,
  sriovNetworks,
  type BridgeNetwork,
  type Namespace,
  type NetworkAttachmentDefinition,
  type ObjectMeta,
  type OVSNetwork,
  type SriovIBNetwork,
  type SriovNetwork,
} from "@switchyard/api";
import { watchObjects, type Cache, type FailedWatch, type Transport } from "@switchyard/kube";
import { targetNamespace, type Network } from "@switchyard/render";
import { hash } from "node:crypto";
import { fieldManagers } from "../field-managers.ts";

/** Keys are "namespace/name", but for namespaces. */
export interface NetworkCaches {
  readonly sriovNetworks: Cache<SriovNetwork>;
  readonly sriovIBNetworks: Cache<SriovIBNetwork>;
  readonly ovsNetworks: Cache<OVSNetwork>;
  readonly bridgeNetworks: Cache<BridgeNetwork>;
  readonly networkAttachmentDefinitions: Cache<NadFacts>;
  readonly namespaces: Cache<Namespace>;
}

/** What is kept of a NetworkAttachmentDefinition. */
export interface NadFacts {
  /** Of the annotations those that say what it is and whose. */
  readonly metadata: ObjectMeta;
  /** Shows that somebody changed the configuration, which may be long. */
  readonly configHash: string;
}

/** As users may write it: one without a configuration has it in a file of its name on the nodes. */
type StoredNad = Omit<NetworkAttachmentDefinition, "spec"> & {
  readonly spec?: Partial<NetworkAttachmentDefinition["spec"]>;
};

export interface WatchNetworksOptions {
  readonly transport: Transport;
  readonly report: (error: unknown, at: FailedWatch) => void;
}

/** How each kind is kept: for watches, and for stores that tests fill. */
export const networkStores = {
  sriovNetworks: { type: sriovNetworks, ...storeOfNetworks<SriovNetwork>() },
  sriovIBNetworks: { type: sriovIBNetworks, ...storeOfNetworks<SriovIBNetwork>() },
  ovsNetworks: { type: ovsNetworks, ...storeOfNetworks<OVSNetwork>() },
  bridgeNetworks: { type: bridgeNetworks, ...storeOfNetworks<BridgeNetwork>() },
  networkAttachmentDefinitions: {
    type: networkAttachmentDefinitions,
    project: ({ metadata, spec: { config = "" } = {} }: StoredNad): NadFacts => ({
      metadata: keep(metadata),
      configHash: hash("sha256", config, "base64url"),
    }),
    indexes: { owner: (nad: NadFacts) => [ownerRefOf(nad)].filter((owner) => owner !== "") },
    managers: [fieldManagers.networks],
  },
  namespaces: {
    type: namespaces,
    project: ({ apiVersion, kind, metadata }: Namespace): Namespace => ({ apiVersion, kind, metadata: keep(metadata) }),
  },
};

export function watchNetworks(options: WatchNetworksOptions) {
  return {
    sriovNetworks: watchObjects({ ...options, ...networkStores.sriovNetworks, optional: true }),
    sriovIBNetworks: watchObjects({ ...options, ...networkStores.sriovIBNetworks, optional: true }),
    ovsNetworks: watchObjects({ ...options, ...networkStores.ovsNetworks, optional: true }),
    bridgeNetworks: watchObjects({ ...options, ...networkStores.bridgeNetworks, optional: true }),
    networkAttachmentDefinitions: watchObjects({
      ...{ ...options, ...networkStores.networkAttachmentDefinitions },
      optional: true,
    }),
    namespaces: watchObjects({ ...options, ...networkStores.namespaces }),
  } satisfies NetworkCaches;
}

/** Where the network's NetworkAttachmentDefinition is to be: "namespace/name". */
export function placeOf(network: Network): string {
  return `${targetNamespace(network)}/${network.metadata.name}`;
}

/** The network that the NetworkAttachmentDefinition says it is made from; "" where it says none. */
export function ownerRefOf({ metadata }: NadFacts): string {
  return metadata.annotations?.[annotationKeys.ownerRef] ?? "";
}

function storeOfNetworks<N extends Network>() {
  return {
    project: (network: N): N => ({ ...network, metadata: keep(network.metadata) }),
    indexes: {
      place: (network: N) => [placeOf(network)],
      targetNamespace: (network: N) => [targetNamespace(network)],
    },
    managers: [fieldManagers.networks, fieldManagers.failures],
  };
}

const keptAnnotations: readonly string[] = [
  annotationKeys.ownerRef,
  annotationKeys.resourceName,
  annotationKeys.lastNetworkNamespace,
];

function keep(metadata: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp } = metadata;
  const { finalizers, ownerReferences, annotations = {} } = metadata;
  const kept = Object.entries(annotations).filter(([key]) => keptAnnotations.includes(key));
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(generation !== undefined && { generation }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(finalizers !== undefined && { finalizers }),
    ...(ownerReferences !== undefined && { ownerReferences }),
    ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }),
  };
}
