// SPDX-License-Identifier: Apache-2.0
/**
 * What admission is asked about an object of the input.
 * Usage: `const review = reviewOf("CREATE", { kind, object })`.
 */
import type { Change, Review, ReviewedKind } from "@switchyard/admission";
import { fits, type Kinds } from "../cluster/kinds.ts";
import type { Operation } from "../flags.ts";

const reviewedKinds: ReadonlySet<string> = new Set<ReviewedKind>([
  "SriovNetworkNodePolicy",
  "SriovNetworkPoolConfig",
  "SriovOperatorConfig",
  "SriovNetwork",
  "SriovIBNetwork",
  "OVSNetwork",
  "BridgeNetwork",
]);

/** Whether the webhook has rules for the kind. */
export function isReviewed(kind: string): kind is ReviewedKind {
  return reviewedKinds.has(kind);
}

/** The object as it shall be, and the one that is stored. */
export interface Objects {
  readonly object: unknown;
  readonly oldObject: unknown;
}

/** Undefined where an object has not the shape of its kind, which its CRD has told already. */
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
  }
}

function withKind<K extends ReviewedKind, C extends object>(kind: K, change: C | undefined) {
  return change && { ...change, kind };
}

function changeOf<K extends ReviewedKind>(
  kind: K,
  operation: Operation,
  { object, oldObject }: Objects,
): Change<Kinds[K]> | undefined {
  if (operation === "DELETE") return fits(oldObject, kind) ? { operation, oldObject } : undefined;
  if (!fits(object, kind)) return undefined;
  if (operation === "CREATE") return { operation, object };
  // What was stored under older rules forgives nothing, and keeps nothing from being repaired: as in the webhook.
  return fits(oldObject, kind) ? { operation, object, oldObject } : { operation: "CREATE", object };
}
