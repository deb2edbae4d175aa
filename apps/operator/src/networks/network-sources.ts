// SPDX-License-Identifier: Apache-2.0
/**
 * Which changes wake which networks: the one that changed, those that compete with it for a place, those whose
 * NetworkAttachmentDefinition or namespace changed, and those whose bridges are made by other policies now.
 * Usage: `startController({ sources: networkSources(caches, networks), … })`.
 */
import type { BridgeNetwork } from "@switchyard/api";
import { fromCache, type Cache, type Change, type Source } from "@switchyard/kube";
import { linuxBridgesOf, type Network } from "@switchyard/render";
import { isDeepStrictEqual } from "node:util";
import type { NodeStateFacts } from "../node-states/node-state-facts.ts";
import { ownerRefOf, placeOf, type NadFacts, type NetworkCaches } from "./network-caches.ts";
import { networkRef, parseNetworkRef } from "./network-ref.ts";
import { isTerminating, networkCachesByKind, type Networks } from "./networks.ts";

export function networkSources(
  caches: NetworkCaches & { readonly states: Cache<NodeStateFacts> },
  networks: Networks,
): readonly Source[] {
  return [
    ...Object.values(networkCachesByKind(caches)).map((cache) => {
      return fromCache(cache, (change) => networksOfNetwork(change, networks));
    }),
    fromCache(caches.networkAttachmentDefinitions, (change) => networksOfNad(change, networks)),
    fromCache(caches.namespaces, ({ key }) => networks.targeting(key).map(networkRef)),
    fromCache(caches.states, (change) => networksOfState(change, caches.bridgeNetworks, networks)),
  ];
}

/**
 * Itself, and where it is new, gone, another one of its name or changed in what it wants: all that want the places that it
 * wants and wanted.
 */
function networksOfNetwork({ before, after }: Change<Network>, networks: Networks): readonly string[] {
  const both = [before, after].filter((network) => network !== undefined);
  const concerns = (network: Network) => [network.metadata.uid, isTerminating(network), network.spec];
  const isSame = before && after && isDeepStrictEqual(concerns(before), concerns(after));
  const rivals = isSame ? [] : both.flatMap((network) => networks.wanting(placeOf(network)));
  return [...both, ...rivals].map(networkRef);
}

/** The network that it says it is made from, be it gone, and those that could be made there. */
function networksOfNad({ key, before, after }: Change<NadFacts>, networks: Networks): readonly string[] {
  const owners = [before, after].flatMap((nad) => (nad === undefined ? [] : [ownerRefOf(nad)]));
  return [...owners.filter((owner) => parseNetworkRef(owner)), ...networks.wanting(key).map(networkRef)];
}

/**
 * BridgeNetworks that leave the bridge to the policies, where this node has other bridges for their resource now, and all that
 * want their places: without any bridge they can be made no more.
 */
function networksOfState(
  { before, after }: Change<NodeStateFacts>,
  bridgeNetworks: Cache<BridgeNetwork>,
  networks: Networks,
): readonly string[] {
  if (isDeepStrictEqual(before?.spec, after?.spec)) return [];
  const bridgesIn = (state: NodeStateFacts | undefined, { spec }: BridgeNetwork): readonly string[] =>
    linuxBridgesOf(spec.resourceName, state === undefined ? [] : [state]);
  return bridgeNetworks
    .list()
    .filter((network) => !network.spec.bridge)
    .filter((network) => !isDeepStrictEqual(bridgesIn(before, network), bridgesIn(after, network)))
    .flatMap((network) => networks.wanting(placeOf(network)))
    .map(networkRef);
}
