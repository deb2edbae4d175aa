// SPDX-License-Identifier: Apache-2.0
/** reviewOf converts an object of the input to the Review that admission gets. */
import type { ReviewedChange, Review, ReviewedKind } from "@switchyard/admission";
import { isOfKind, type Kinds } from "../cluster/kinds.ts";
import type { Operation } from "../flags.ts";

const reviewedKinds: ReadonlySet<string> = new Set<ReviewedKind>([
  "SriovNetworkNodePolicy",
  "SriovNetworkPoolConfig",
  "SriovOperatorConfig",
  "SriovNetwork",
  "SriovIBNetwork",
  "OVSNetwork",
  "BridgeNetwork",
  "AfxdpNetwork",
  "AfxdpNetworkNodePolicy",
  "AfxdpOperatorConfig",
]);

/** Whether the webhook has rules for the kind. */
export function isReviewed(kind: string): kind is ReviewedKind {
  return reviewedKinds.has(kind);
}

/** The new object and the stored one. */
export interface Objects {
  readonly object: unknown;
  readonly oldObject: unknown;
}

/** Returns undefined if the object does not fit the schema of its kind, which the check of its CRD reports. */
export function reviewOf(operation: Operation, kind: ReviewedKind, objects: Objects): Review | undefined {
  switch (kind) {
    case "SriovNetworkNodePolicy":
      return withKind("SriovNetworkNodePolicy", changeOf("SriovNetworkNodePolicy", operation, objects));
    case "SriovNetworkPoolConfig":
      return withKind("SriovNetworkPoolConfig", changeOf("SriovNetworkPoolConfig", operation, objects));
    case "SriovOperatorConfig":
      return withKind("SriovOperatorConfig", changeOf("SriovOperatorConfig", operation, objects));
    case "SriovNetwork":
      return withKind("SriovNetwork", changeOf("SriovNetwork", operation, objects));
    case "SriovIBNetwork":
      return withKind("SriovIBNetwork", changeOf("SriovIBNetwork", operation, objects));
    case "OVSNetwork":
      return withKind("OVSNetwork", changeOf("OVSNetwork", operation, objects));
    case "BridgeNetwork":
      return withKind("BridgeNetwork", changeOf("BridgeNetwork", operation, objects));
    case "AfxdpNetwork":
      return withKind("AfxdpNetwork", changeOf("AfxdpNetwork", operation, objects));
    case "AfxdpNetworkNodePolicy":
      return withKind("AfxdpNetworkNodePolicy", changeOf("AfxdpNetworkNodePolicy", operation, objects));
    case "AfxdpOperatorConfig":
      return withKind("AfxdpOperatorConfig", changeOf("AfxdpOperatorConfig", operation, objects));
  }
}

function withKind<K extends ReviewedKind, C extends object>(kind: K, change: C | undefined) {
  return change && { ...change, kind };
}

function changeOf<K extends ReviewedKind>(
  kind: K,
  operation: Operation,
  { object, oldObject }: Objects,
): ReviewedChange<Kinds[K]> | undefined {
  if (operation === "DELETE") return isOfKind(oldObject, kind) ? { operation, oldObject } : undefined;
  if (!isOfKind(object, kind)) return undefined;
  if (operation === "CREATE") return { operation, object };
  // As in the webhook: if the stored object does not fit the schema, the new one is checked like a new object.
  return isOfKind(oldObject, kind) ? { operation, object, oldObject } : { operation: "CREATE", object };
}
