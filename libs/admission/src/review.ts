// SPDX-License-Identifier: Apache-2.0
/**
 * Review is the input of admit(): one change of one of Switchyard's objects. toReview makes it of unread objects.
 * Usage: `{ operation: "CREATE", kind: "SriovNetworkNodePolicy", object }`.
 */
import { customResources, ok, type Kinds, type Result } from "@switchyard/api";

/** The kinds without rules: only Switchyard writes them. */
const unreviewedKinds = ["SriovNetworkNodeState", "AfxdpNetworkNodeState"] as const satisfies readonly (keyof Kinds)[];

/** The kinds for which admission has rules. */
export type ReviewedKind = Exclude<keyof Kinds, (typeof unreviewedKinds)[number]>;

/** The objects of these kinds. */
export type ReviewedKinds = Pick<Kinds, ReviewedKind>;

/** The network kinds. */
export type ReviewedNetwork = ReviewedKinds[
  "SriovNetwork" | "SriovIBNetwork" | "OVSNetwork" | "BridgeNetwork" | "AfxdpNetwork"];

/** A change with the new object, the old object, or both. */
export type ReviewedChange<T> =
  | { readonly operation: "CREATE"; readonly object: T }
  | { readonly operation: "UPDATE"; readonly object: T; readonly oldObject: T }
  | { readonly operation: "DELETE"; readonly oldObject: T };

/** A change of an object of one kind, of any reviewed kind by default. */
export type Review<Kind extends ReviewedKind = ReviewedKind> = {
  readonly [K in Kind]: ReviewedChange<ReviewedKinds[K]> & { readonly kind: K };
}[Kind];

/** The names of all reviewed kinds. */
export const reviewedKinds: readonly ReviewedKind[] = customResources.map(({ kind }) => kind).filter(isReviewedKind);

/** Whether admission has rules for the kind. */
export function isReviewedKind(kind: string): kind is ReviewedKind {
  return customResources.some((type) => type.kind === kind) && !unreviewedKinds.some((other) => other === kind);
}

/** A change as it arrives, before its objects are read. */
export interface UnreadChange {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly object: unknown;
  readonly oldObject: unknown;
}

/**
 * Reads the objects of a change with `read`, and returns its error if they do not have the shape of the kind. If only the
 * stored object cannot be read, the new one is reviewed like a new object: it can be repaired, but keeps no violation.
 */
export function toReview<Kind extends ReviewedKind, E>(
  kind: Kind,
  { operation, object, oldObject }: UnreadChange,
  read: (kind: Kind, object: unknown) => Result<ReviewedKinds[Kind], E>,
): Result<Review<Kind>, E> {
  if (operation === "DELETE") {
    const old = read(kind, oldObject);
    return old.ok ? ok({ kind, operation, oldObject: old.value }) : old;
  }
  const now = read(kind, object);
  if (!now.ok) return now;
  const old = operation === "UPDATE" ? read(kind, oldObject) : undefined;
  if (old?.ok !== true) return ok({ kind, operation: "CREATE", object: now.value });
  return ok({ kind, operation: "UPDATE", object: now.value, oldObject: old.value });
}
