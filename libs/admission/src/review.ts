// SPDX-License-Identifier: Apache-2.0
/**
 * What is asked of admission: one change of one object of ours.
 * Usage: `{ operation: "CREATE", kind: "SriovNetworkNodePolicy", object }`.
 */
import type {
  BridgeNetwork,
  OVSNetwork,
  SriovIBNetwork,
  SriovNetwork,
  SriovNetworkNodePolicy,
  SriovNetworkPoolConfig,
  SriovOperatorConfig,
} from "@switchyard/api";

/** Kinds that admission has rules for, by name. */
export interface ReviewedKinds {
  readonly SriovNetworkNodePolicy: SriovNetworkNodePolicy;
  readonly SriovNetworkPoolConfig: SriovNetworkPoolConfig;
  readonly SriovOperatorConfig: SriovOperatorConfig;
  readonly SriovNetwork: SriovNetwork;
  readonly SriovIBNetwork: SriovIBNetwork;
  readonly OVSNetwork: OVSNetwork;
  readonly BridgeNetwork: BridgeNetwork;
}

export type ReviewedKind = keyof ReviewedKinds;

/** The network kinds. */
export type ReviewedNetwork = SriovNetwork | SriovIBNetwork | OVSNetwork | BridgeNetwork;

/** A change: the object as it shall be, as it was, or both. */
export type Change<T> =
  | { readonly operation: "CREATE"; readonly object: T }
  | { readonly operation: "UPDATE"; readonly object: T; readonly oldObject: T }
  | { readonly operation: "DELETE"; readonly oldObject: T };

/** A change of an object of one kind. */
export type Review = {
  readonly [Kind in ReviewedKind]: Change<ReviewedKinds[Kind]> & { readonly kind: Kind };
}[ReviewedKind];
