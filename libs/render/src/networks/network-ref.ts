// SPDX-License-Identifier: Apache-2.0
/**
 * networkRef returns the text that identifies a network of any kind in any namespace. NetworkAttachmentDefinitions
 * contain it in their owner-ref annotation (sriov-operator.md A.9), and it is the key of the network in the work queue.
 */
import {
  afxdpNetworks,
  bridgeNetworks,
  ovsNetworks,
  sriovIBNetworks,
  sriovNetworks,
  type AfxdpNetwork,
  type BridgeNetwork,
  type OVSNetwork,
  type SriovIBNetwork,
  type SriovNetwork,
} from "@switchyard/api";

/** A network of any kind. */
export type Network = SriovNetwork | SriovIBNetwork | OVSNetwork | BridgeNetwork | AfxdpNetwork;

export type NetworkKind = Network["kind"];

/** A network, which may be deleted. */
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
  AfxdpNetwork: afxdpNetworks,
} as const;

/** Returns for example "OVSNetwork.sriovnetwork.openshift.io/tenant-a/blue". */
export function networkRef({ kind, metadata: { namespace = "default", name } }: Network): string {
  return `${kind}.${networkTypes[kind].group}/${namespace}/${name}`;
}

/** Returns undefined for a text that does not identify a network. */
export function parseNetworkRef(text: string): NetworkName | undefined {
  const [type = "", namespace, name, ...more] = text.split("/");
  const [kind = "", ...group] = type.split(".");
  if (!isNetworkKind(kind) || group.join(".") !== networkTypes[kind].group || more.length > 0) return undefined;
  return namespace && name ? { kind, namespace, name } : undefined;
}

function isNetworkKind(kind: string): kind is NetworkKind {
  return Object.hasOwn(networkTypes, kind);
}
