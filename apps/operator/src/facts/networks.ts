// SPDX-License-Identifier: Apache-2.0
/**
 * Networks looks up the networks of all kinds by reference, and by name or namespace of their
 * NetworkAttachmentDefinition (NAD).
 */
import type { Cache } from "@switchyard/kube";
import { parseNetworkRef, type Network, type NetworkKind } from "@switchyard/render";
import type { NetworkCaches } from "./network-caches.ts";

export interface Networks {
  /** Looks a network up by networkRef(). */
  get(ref: string): Network | undefined;
  /** Returns the networks whose NAD has this "namespace/name". */
  forNad(nadKey: string): readonly Network[];
  /** Returns the networks whose NAD is in this namespace. */
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
    forNad: (nadKey) => indexed("nadKey", nadKey),
    targeting: (namespace) => indexed("targetNamespace", namespace),
  };
}

export function networkCachesByKind(caches: NetworkCaches): Readonly<Record<NetworkKind, Cache<Network>>> {
  return {
    SriovNetwork: caches.sriovNetworks,
    SriovIBNetwork: caches.sriovIBNetworks,
    OVSNetwork: caches.ovsNetworks,
    BridgeNetwork: caches.bridgeNetworks,
    AfxdpNetwork: caches.afxdpNetworks,
  };
}

/** Reports whether the network is being deleted. */
export function isTerminating({ metadata }: Network): boolean {
  return metadata.deletionTimestamp !== undefined;
}
