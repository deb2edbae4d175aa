// SPDX-License-Identifier: Apache-2.0
/**
 * networkSources returns the event sources of the networks controller. A network is enqueued when it changes, when a
 * network that wants the same NetworkAttachmentDefinition (NAD) changes, and when its NAD or namespace changes. It is
 * also enqueued when the policies create other bridges for it or offer other AF_XDP devices, or another provider has
 * its CNI plugin.
 */
import type { AfxdpNetwork, AfxdpNetworkNodeState, AfxdpOperatorConfig, BridgeNetwork } from "@switchyard/api";
import { fromCache, type Cache, type CacheChange, type Source } from "@switchyard/kube";
import { afxdpProviderOf } from "@switchyard/policy";
import {
  linuxBridgesOf,
  networkRef,
  parseNetworkRef,
  poolDevicesOf,
  unfilteredBridgesOf,
  type Network,
} from "@switchyard/render";
import { isDeepStrictEqual } from "node:util";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import { ownerRefOf, nadKey, type CachedNad, type NetworkCaches } from "../facts/network-caches.ts";
import { isTerminating, networkCachesByKind, type Networks } from "../facts/networks.ts";

export function networkSources(
  caches: NetworkCaches & {
    readonly states: Cache<CachedNodeState>;
    readonly afxdpStates: Cache<AfxdpNetworkNodeState>;
    readonly afxdpConfigs: Cache<AfxdpOperatorConfig>;
  },
  networks: Networks,
): readonly Source[] {
  return [
    ...Object.values(networkCachesByKind(caches)).map((cache) => {
      return fromCache(cache, (change) => networksOfNetwork(change, networks));
    }),
    fromCache(caches.networkAttachmentDefinitions, (change) => networksOfNad(change, networks)),
    fromCache(caches.namespaces, ({ key }) => networks.targeting(key).map(networkRef)),
    fromCache(caches.states, (change) => networksOfState(change, caches.bridgeNetworks, networks)),
    fromCache(caches.afxdpStates, (change) => networksOfAfxdpState(change, caches.afxdpNetworks, networks)),
    fromCache(caches.afxdpConfigs, (change) => networksOfProvider(change, caches.afxdpNetworks, networks)),
  ];
}

/**
 * Returns the changed network. If its uid, deletion or spec changed, also returns all networks that want the NAD that
 * it wants or wanted.
 */
function networksOfNetwork({ before, after }: CacheChange<Network>, networks: Networks): readonly string[] {
  const both = [before, after].filter((network) => network !== undefined);
  const relevant = (network: Network) => [network.metadata.uid, isTerminating(network), network.spec];
  const isSame = before && after && isDeepStrictEqual(relevant(before), relevant(after));
  const otherNetworks = isSame ? [] : both.flatMap((network) => networks.forNad(nadKey(network)));
  return [...both, ...otherNetworks].map(networkRef);
}

/**
 * Returns the network that the owner-ref of the NAD names, even if it is deleted, and the networks that want this NAD.
 */
function networksOfNad({ key, before, after }: CacheChange<CachedNad>, networks: Networks): readonly string[] {
  const owners = [before, after].flatMap((nad) => (nad === undefined ? [] : [ownerRefOf(nad)]));
  return [...owners.filter((owner) => parseNetworkRef(owner)), ...networks.forNad(key).map(networkRef)];
}

/**
 * Returns the BridgeNetworks for whose resource this node now has other bridges, or which of them filter by VLAN, and
 * all networks that want the same NAD. Without a bridge, a BridgeNetwork is invalid and no longer wants its NAD.
 */
function networksOfState(
  { before, after }: CacheChange<CachedNodeState>,
  bridgeNetworks: Cache<BridgeNetwork>,
  networks: Networks,
): readonly string[] {
  if (isDeepStrictEqual(before?.spec, after?.spec)) return [];
  const bridgesIn = (state: CachedNodeState | undefined, { spec }: BridgeNetwork): readonly unknown[] => {
    const states = state === undefined ? [] : [state];
    return [spec.bridge || linuxBridgesOf(spec.resourceName, states), unfilteredBridgesOf(spec, states)];
  };
  return bridgeNetworks
    .list()
    .filter((network) => !isDeepStrictEqual(bridgesIn(before, network), bridgesIn(after, network)))
    .flatMap((network) => networks.forNad(nadKey(network)))
    .map(networkRef);
}

/** Returns the AfxdpNetworks in whose pool this node now has other devices for the CNI plugin, and the other networks with the same NAD as above. */
function networksOfAfxdpState(
  { before, after }: CacheChange<AfxdpNetworkNodeState>,
  afxdpNetworks: Cache<AfxdpNetwork>,
  networks: Networks,
): readonly string[] {
  if (isDeepStrictEqual(before?.spec, after?.spec)) return [];
  const devicesIn = (state: AfxdpNetworkNodeState | undefined, { spec }: AfxdpNetwork) =>
    poolDevicesOf(spec.poolName, state === undefined ? [] : [state]);
  return afxdpNetworks
    .list()
    .filter((network) => !isDeepStrictEqual(devicesIn(before, network), devicesIn(after, network)))
    .flatMap((network) => networks.forNad(nadKey(network)))
    .map(networkRef);
}

/** Returns all AfxdpNetworks, and the networks that want the same NADs, if their CNI plugin is another one now. */
function networksOfProvider(
  { before, after }: CacheChange<AfxdpOperatorConfig>,
  afxdpNetworks: Cache<AfxdpNetwork>,
  networks: Networks,
): readonly string[] {
  if (afxdpProviderOf(before) === afxdpProviderOf(after)) return [];
  return afxdpNetworks.list().flatMap((network) => networks.forNad(nadKey(network)).map(networkRef));
}
