// SPDX-License-Identifier: Apache-2.0
/**
 * watchNetworks watches networks, NetworkAttachmentDefinitions (NADs) and namespaces in the whole cluster. The kinds of
 * networks and NADs are optional: without Multus there are no NADs, and a Helm upgrade adds no CRDs.
 */
import {
  defined,
  afxdpNetworks,
  annotations as annotationKeys,
  bridgeNetworks,
  namespaces,
  networkAttachmentDefinitions,
  ovsNetworks,
  sriovIBNetworks,
  sriovNetworks,
  type AfxdpNetwork,
  type BridgeNetwork,
  type Namespace,
  type NetworkAttachmentDefinition,
  type ObjectMeta,
  type OVSNetwork,
  type SriovIBNetwork,
  type SriovNetwork,
  upstreamManager,
} from "@switchyard/api";
import {
  watchObjects,
  type Cache,
  type FailedWatch,
  type KubeObject,
  type ServedGroups,
  type Transport,
} from "@switchyard/kube";
import { targetNamespace, type Network } from "@switchyard/render";
import { hash } from "node:crypto";
import { fieldManagers } from "../field-managers.ts";

/** The keys are "namespace/name", and for namespaces "name". */
export interface NetworkCaches {
  readonly sriovNetworks: Cache<SriovNetwork>;
  readonly sriovIBNetworks: Cache<SriovIBNetwork>;
  readonly ovsNetworks: Cache<OVSNetwork>;
  readonly bridgeNetworks: Cache<BridgeNetwork>;
  readonly afxdpNetworks: Cache<AfxdpNetwork>;
  readonly networkAttachmentDefinitions: Cache<CachedNad>;
  readonly namespaces: Cache<Namespace>;
}

/** The parts of a NetworkAttachmentDefinition that are cached. */
export interface CachedNad {
  /** With the annotations that name the resource and the network. */
  readonly metadata: ObjectMeta;
  /** Whether this operator or upstream's has written it, by its managed fields. A copy by a user has others. */
  readonly isWrittenByOperator: boolean;
  /** Changes when the configuration changes, which can be long and is not kept. */
  readonly configHash: string;
}

/** A NAD as users may write it. Without spec.config, Multus reads a file with the name of the NAD on the nodes. */
type StoredNad = Omit<NetworkAttachmentDefinition, "spec" | "metadata"> & {
  readonly metadata: ObjectMeta & Pick<KubeObject["metadata"], "managedFields">;
  readonly spec?: Partial<NetworkAttachmentDefinition["spec"]>;
};

export interface WatchNetworksOptions {
  readonly transport: Transport;
  /** For kinds that may be missing. */
  readonly groups?: ServedGroups;
  readonly report: (error: unknown, at: FailedWatch) => void;
}

/** Options of the cache of each kind, for watches and for the stores of tests. */
export const networkStores = {
  sriovNetworks: { type: sriovNetworks, ...storeOfNetworks<SriovNetwork>() },
  sriovIBNetworks: { type: sriovIBNetworks, ...storeOfNetworks<SriovIBNetwork>() },
  ovsNetworks: { type: ovsNetworks, ...storeOfNetworks<OVSNetwork>() },
  bridgeNetworks: { type: bridgeNetworks, ...storeOfNetworks<BridgeNetwork>() },
  afxdpNetworks: { type: afxdpNetworks, ...storeOfNetworks<AfxdpNetwork>() },
  networkAttachmentDefinitions: {
    type: networkAttachmentDefinitions,
    project: ({ metadata, spec: { config = "" } = {} }: StoredNad): CachedNad => ({
      metadata: keep(metadata),
      isWrittenByOperator: isWrittenByOperator(metadata),
      configHash: hash("sha256", config, "base64url"),
    }),
    indexes: { owner: (nad: CachedNad) => [ownerRefOf(nad)].filter((owner) => owner !== "") },
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
    afxdpNetworks: watchObjects({ ...options, ...networkStores.afxdpNetworks, optional: true }),
    networkAttachmentDefinitions: watchObjects({
      ...options,
      ...networkStores.networkAttachmentDefinitions,
      optional: true,
    }),
    namespaces: watchObjects({ ...options, ...networkStores.namespaces }),
  } satisfies NetworkCaches;
}

/** Returns "namespace/name" of the network's NAD. */
export function nadKey(network: Network): string {
  return `${targetNamespace(network)}/${network.metadata.name}`;
}

/** Returns the owner-ref annotation of the NAD, which names its network; "" if it has none. */
export function ownerRefOf({ metadata }: CachedNad): string {
  return metadata.annotations?.[annotationKeys.ownerRef] ?? "";
}

function storeOfNetworks<N extends Network>() {
  return {
    project: (network: N): N => ({ ...network, metadata: keep(network.metadata) }),
    indexes: {
      nadKey: (network: N) => [nadKey(network)],
      targetNamespace: (network: N) => [targetNamespace(network)],
    },
    managers: [fieldManagers.networks, fieldManagers.failures],
  };
}

function isWrittenByOperator({ managedFields = [] }: StoredNad["metadata"]): boolean {
  return managedFields.some(
    ({ manager, operation }) =>
      (manager === fieldManagers.networks && operation === "Apply") ||
      (manager === upstreamManager && operation === "Update"),
  );
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
    ...defined({ namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp }),
    ...defined({ finalizers, ownerReferences }),
    ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }),
  };
}
