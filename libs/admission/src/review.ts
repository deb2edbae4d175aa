// SPDX-License-Identifier: Apache-2.0
/**
 * Review is the input of admit(): one change of one of Switchyard's objects.
 * Usage: `{ operation: "CREATE", kind: "SriovNetworkNodePolicy", object }`.
 */
import type {
  AfxdpNetwork,
  AfxdpNetworkNodePolicy,
  AfxdpOperatorConfig,
  BridgeNetwork,
  OVSNetwork,
  SriovIBNetwork,
  SriovNetwork,
  SriovNetworkNodePolicy,
  SriovNetworkPoolConfig,
  SriovOperatorConfig,
} from "@switchyard/api";

/** The kinds for which admission has rules, by name. */
export interface ReviewedKinds {
  readonly SriovNetworkNodePolicy: SriovNetworkNodePolicy;
  readonly SriovNetworkPoolConfig: SriovNetworkPoolConfig;
  readonly SriovOperatorConfig: SriovOperatorConfig;
  readonly SriovNetwork: SriovNetwork;
  readonly SriovIBNetwork: SriovIBNetwork;
  readonly OVSNetwork: OVSNetwork;
  readonly BridgeNetwork: BridgeNetwork;
  readonly AfxdpNetwork: AfxdpNetwork;
  readonly AfxdpNetworkNodePolicy: AfxdpNetworkNodePolicy;
  readonly AfxdpOperatorConfig: AfxdpOperatorConfig;
}

export type ReviewedKind = keyof ReviewedKinds;

/** The network kinds. */
export type ReviewedNetwork = SriovNetwork | SriovIBNetwork | OVSNetwork | BridgeNetwork | AfxdpNetwork;

/** A change with the new object, the old object, or both. */
export type ReviewedChange<T> =
  | { readonly operation: "CREATE"; readonly object: T }
  | { readonly operation: "UPDATE"; readonly object: T; readonly oldObject: T }
  | { readonly operation: "DELETE"; readonly oldObject: T };

/** A change of an object of one kind. */
export type Review = {
  readonly [Kind in ReviewedKind]: ReviewedChange<ReviewedKinds[Kind]> & { readonly kind: Kind };
}[ReviewedKind];
