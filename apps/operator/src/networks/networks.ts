// SPDX-License-Identifier: Apache-2.0
/**
 * The networks of all four kinds as one: by name, by the place where their NetworkAttachmentDefinition is to be, by that
 * place's namespace.
 * Usage: `networks.wanting("tenant-a/blue")` are those that compete for one NetworkAttachmentDefinition.
 */
import type { Cache } from "@switchyard/kube";
import type { Network } from "@switchyard/render";
import type { NetworkCaches } from "./network-caches.ts";
import { parseNetworkRef, type NetworkKind } from "./network-ref.ts";

/** As the caches have them now. */
export interface Networks {
  get(ref: string): Network | undefined;
  /** Those whose NetworkAttachmentDefinition is to be at this "namespace/name". */
  wanting(place: string): readonly Network[];
  /** Those whose NetworkAttachmentDefinition is to be in this namespace. */
  targeting(namespace: string): readonly Network[];
}

export function createNetworks(caches: NetworkCaches): Networks {
  const byKind = networkCachesByKind(caches);
  const indexed = (index: string, value: string): readonly Network[] =>
    Object.values(byKind).flatMap((cache) => cache.byIndex(index, value));
  return {
    get(ref) {
      const named = parseNetworkRef(ref);
      return named && byKind[named.kind].get(`${named.namespace}/${named.name}`);
    },
    wanting: (place) => indexed("place", place),
    targeting: (namespace) => indexed("targetNamespace", namespace),
  };
}

export function networkCachesByKind(caches: NetworkCaches): Readonly<Record<NetworkKind, Cache<Network>>> {
  return {
    SriovNetwork: caches.sriovNetworks,
    SriovIBNetwork: caches.sriovIBNetworks,
    OVSNetwork: caches.ovsNetworks,
    BridgeNetwork: caches.bridgeNetworks,
  };
}

/** Whether it is being deleted. */
export function isTerminating({ metadata }: Network): boolean {
  return metadata.deletionTimestamp !== undefined;
}
