// SPDX-License-Identifier: Apache-2.0
/**
 * claimNad decides whether a network may write the NetworkAttachmentDefinition (NAD) with its name. A NAD belongs to
 * the network that it was created from, and a NAD that was not created from a network is not changed
 * (sriov-operator.md D, M-51).
 */
import { annotations, networkAttachmentDefinitions, type NetworkAttachmentDefinition } from "@switchyard/api";
import { networkRef, parseNetworkRef, type Network } from "@switchyard/render";
import { ownerRefOf, nadKey, type CachedNad } from "../facts/network-caches.ts";

export interface NadClaim {
  readonly network: Network;
  readonly intended: NetworkAttachmentDefinition;
  /** The existing NAD. */
  readonly nad: CachedNad | undefined;
  /** Other networks that want the same NAD. */
  readonly otherNetworks: readonly Network[];
}

export type ClaimAnswer =
  /** The NAD does not exist, and this network may create it. */
  | { readonly kind: "free" }
  /** The NAD belongs to the network, or upstream's operator created it for the network without an owner-ref. */
  | { readonly kind: "own" }
  /** The NAD is being deleted. */
  | { readonly kind: "terminating" }
  /** The NAD does not belong to the network. The message says to what it belongs and what to do. */
  | { readonly kind: "taken"; readonly message: string };

export function claimNad({ network, intended, nad, otherNetworks }: NadClaim): ClaimAnswer {
  if (nad?.metadata.deletionTimestamp !== undefined) return { kind: "terminating" };
  const ref = networkRef(network);
  const key = nadKey(network);
  const owner = nad === undefined ? "" : ownerRefOf(nad);
  if (owner === ref) return { kind: "own" };
  if (owner !== "") {
    const message = `NetworkAttachmentDefinition ${key} belongs to ${describe(owner)}; delete or rename one of the networks`;
    return { kind: "taken", message };
  }
  if (nad !== undefined && !isCreatedFor(network, intended, nad)) {
    return { kind: "taken", message: foreignMessage(network, ref) };
  }
  const older = otherNetworks.filter((other) => isOlder(other, network)).map(networkRef);
  if (older[0] !== undefined) {
    const message = `NetworkAttachmentDefinition ${key} belongs to ${describe(older[0])}, which is older; rename one of the networks`;
    return { kind: "taken", message };
  }
  return { kind: nad === undefined ? "free" : "own" };
}

/**
 * A NAD without an owner-ref still belongs to the network if the network is its owner, or if an operator has written it for the
 * network's resource. The annotation with the resource alone is no sign of it: a NAD that a user writes for VFs needs it too.
 */
function isCreatedFor({ metadata }: Network, intended: NetworkAttachmentDefinition, nad: CachedNad): boolean {
  const { annotations: marks = {}, ownerReferences = [] } = nad.metadata;
  const resource = intended.metadata.annotations?.[annotations.resourceName];
  return (
    ownerReferences.some(({ uid }) => uid === metadata.uid) ||
    (nad.isWrittenByOperator && resource !== undefined && marks[annotations.resourceName] === resource)
  );
}

function foreignMessage(network: Network, ref: string): string {
  const [namespace = "", name = ""] = nadKey(network).split("/");
  const { plural, group } = networkAttachmentDefinitions;
  return (
    `NetworkAttachmentDefinition ${namespace}/${name} was not created from a network and is not changed; delete it, rename ` +
    `the network, or let the network replace it: kubectl annotate -n ${namespace} ${plural}.${group} ${name} ${annotations.ownerRef}=${ref}`
  );
}

/** Compares by creation time, and by name if both were created in the same second. */
function isOlder(one: Network, other: Network): boolean {
  const [a, b] = [one, other].map((network) => `${network.metadata.creationTimestamp ?? ""} ${networkRef(network)}`);
  return (a ?? "") < (b ?? "");
}

function describe(owner: string): string {
  const named = parseNetworkRef(owner);
  return named === undefined ? `"${owner}"` : `${named.kind} ${named.namespace}/${named.name}`;
}
