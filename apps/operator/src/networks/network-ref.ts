// SPDX-License-Identifier: Apache-2.0
/**
 * Which network is meant, among four kinds and all namespaces: by the text that the NetworkAttachmentDefinition made from it
 * carries (sriov-operator.md A.9, owner-ref). It is the key of the network's work, too.
 * Usage: `parseNetworkRef(nad.metadata.annotations[annotations.ownerRef])?.kind`.
 */
import { apiGroup, bridgeNetworks, ovsNetworks, sriovIBNetworks, sriovNetworks } from "@switchyard/api";
import type { Network } from "@switchyard/render";

export type NetworkKind = Network["kind"];

/** One network, which may be no more. */
export interface NetworkName {
  readonly kind: NetworkKind;
  readonly namespace: string;
  readonly name: string;
}

export const networkTypes = {
  SriovNetwork: sriovNetworks,
  SriovIBNetwork: sriovIBNetworks,
  OVSNetwork: ovsNetworks,
  BridgeNetwork: bridgeNetworks,
} as const;

/** "OVSNetwork.sriovnetwork.openshift.io/tenant-a/blue" */
export function networkRef({ kind, metadata: { namespace = "default", name } }: Network): string {
  return `${kind}.${apiGroup}/${namespace}/${name}`;
}

/** Undefined for a text that names no network of ours. */
export function parseNetworkRef(text: string): NetworkName | undefined {
  const [type = "", namespace, name, ...more] = text.split("/");
  const [kind = "", ...group] = type.split(".");
  if (!isNetworkKind(kind) || group.join(".") !== apiGroup || more.length > 0) return undefined;
  return namespace && name ? { kind, namespace, name } : undefined;
}

function isNetworkKind(kind: string): kind is NetworkKind {
  return Object.hasOwn(networkTypes, kind);
}
