// SPDX-License-Identifier: Apache-2.0
/**
 * Whether a network may have the NetworkAttachmentDefinition at its place: made from one network it stays that network's, and
 * what somebody else made stays theirs (sriov-operator.md D, M-51).
 * Usage: `const claim = claimNad({ network, intended, nad, rivals }); if (claim.kind === "taken") report(claim.message)`.
 */
import { annotations, networkAttachmentDefinitions, type NetworkAttachmentDefinition } from "@switchyard/api";
import type { Network } from "@switchyard/render";
import { ownerRefOf, placeOf, type NadFacts } from "./network-caches.ts";
import { networkRef, parseNetworkRef } from "./network-ref.ts";

export interface NadClaim {
  readonly network: Network;
  readonly intended: NetworkAttachmentDefinition;
  /** What is at the place. */
  readonly nad: NadFacts | undefined;
  /** Other networks of which the same one could be made. */
  readonly rivals: readonly Network[];
}

export type ClaimAnswer =
  /** There is none, and it is this network's turn. */
  | { readonly kind: "free" }
  /** It is the network's own, or was left without a mark by upstream's operator. */
  | { readonly kind: "own" }
  /** It is being deleted. */
  | { readonly kind: "going" }
  /** It is not the network's; the message says whose, and what to do. */
  | { readonly kind: "taken"; readonly message: string };

export function claimNad({ network, intended, nad, rivals }: NadClaim): ClaimAnswer {
  if (nad?.metadata.deletionTimestamp !== undefined) return { kind: "going" };
  const ref = networkRef(network);
  const place = placeOf(network);
  const owner = nad === undefined ? "" : ownerRefOf(nad);
  if (owner === ref) return { kind: "own" };
  if (owner !== "") {
    const message = `NetworkAttachmentDefinition ${place} belongs to ${describe(owner)}; delete or rename one of the networks`;
    return { kind: "taken", message };
  }
  if (nad !== undefined && !isMarkedFor(network, intended, nad)) {
    return { kind: "taken", message: foreignMessage(network, ref) };
  }
  const older = rivals.filter((rival) => isOlder(rival, network)).map(networkRef);
  if (older[0] !== undefined) {
    const message = `NetworkAttachmentDefinition ${place} belongs to ${describe(older[0])}, which is older; rename one of the networks`;
    return { kind: "taken", message };
  }
  return { kind: nad === undefined ? "free" : "own" };
}

/**
 * Without an owner-ref it is plainly ours if it has what only an operator writes: the network as its owner, or the
 * annotation with this network's resource.
 */
function isMarkedFor({ metadata }: Network, intended: NetworkAttachmentDefinition, nad: NadFacts): boolean {
  const { annotations: marks = {}, ownerReferences = [] } = nad.metadata;
  const resource = intended.metadata.annotations?.[annotations.resourceName];
  return (
    ownerReferences.some(({ uid }) => uid === metadata.uid) ||
    (resource !== undefined && marks[annotations.resourceName] === resource)
  );
}

function foreignMessage(network: Network, ref: string): string {
  const [namespace = "", name = ""] = placeOf(network).split("/");
  const { plural, group } = networkAttachmentDefinitions;
  return (
    `NetworkAttachmentDefinition ${namespace}/${name} was not created from a network and is not changed; delete it, rename ` +
    `the network, or give it to the network: kubectl annotate -n ${namespace} ${plural}.${group} ${name} ${annotations.ownerRef}=${ref}`
  );
}

/** Who was created first goes first; of one second, the one whose name sorts first. */
function isOlder(one: Network, other: Network): boolean {
  const [a, b] = [one, other].map((network) => `${network.metadata.creationTimestamp ?? ""} ${networkRef(network)}`);
  return (a ?? "") < (b ?? "");
}

function describe(owner: string): string {
  const named = parseNetworkRef(owner);
  return named === undefined ? `"${owner}"` : `${named.kind} ${named.namespace}/${named.name}`;
}
