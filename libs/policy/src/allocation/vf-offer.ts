// SPDX-License-Identifier: Apache-2.0
/**
 * decideOffer decides whether the device plugin or the driver for ResourceClaims offers a VF of a node. Both ask it, so that no VF is
 * offered by both at any moment, also while a node moves from one to the other under its pods.
 *
 * SriovNetworkNodeState.spec.allocation says which of them is wanted, and status.offeredBy which of them may begin to offer a VF.
 * The other one only withdraws. The one that may begin passes this right on when the other is wanted (mayHandOver), and nobody else
 * writes the field. So the two need neither a lock nor the same view of the spec.
 *
 * Each of them first reads status.offeredBy from the API server, not from a cache; then what the other offers; then the holders. Then it
 * writes what it offers, and only then hands over: the side of the device plugin does so when the plugin runs with what was written. A
 * process that is killed starts at the beginning.
 */
import type { SriovNetworkNodeState } from "@switchyard/api";

/** The device plugin, or the driver of ResourceClaims. */
export type Allocator = "devicePlugin" | "dra";

/** Who offers VFs of a node. */
export interface NodeAllocation {
  readonly wanted: Allocator;
  /** Who may begin to offer VFs. */
  readonly offeredBy: Allocator;
}

/** What the deciding process has observed of a VF. */
export interface ObservedOffer {
  /** Whether it offers the VF already. */
  readonly isOffered: boolean;
  /** Whether the other one offers the VF; undefined if not known. */
  readonly isOfferedByOther: boolean | undefined;
  /** "own": a pod has it from the deciding process, or a claim is allocated for it. "unknown": the kubelet does not answer. */
  readonly holder: "free" | "own" | "other" | "unknown";
}

/**
 * Why a VF is not offered. "moved": the other one gives it to pods, or will. "offered": the other one still offers it. "held": a pod has
 * it from the other one. "unknown": it is not known whether one of both is the case.
 */
export type OfferProblem = "moved" | "offered" | "held" | "unknown";

/** Returns who offers VFs of the node. States of older releases name neither. */
export function allocationOf({ spec, status }: Pick<SriovNetworkNodeState, "spec" | "status">): NodeAllocation {
  return { wanted: spec?.allocation ?? "devicePlugin", offeredBy: status?.offeredBy ?? "devicePlugin" };
}

/** Reports whether the process may offer VFs that it does not offer yet. */
export function mayBegin(self: Allocator, { wanted, offeredBy }: NodeAllocation): boolean {
  return wanted === self && offeredBy === self;
}

/** Reports whether the process passes on the right to begin, after it has withdrawn what decideOffer() says. */
export function mayHandOver(self: Allocator, { wanted, offeredBy }: NodeAllocation): boolean {
  return wanted !== self && offeredBy === self;
}

/** Returns undefined if `self` offers the VF, or why it does not. */
export function decideOffer(
  self: Allocator,
  allocation: NodeAllocation,
  { isOffered, isOfferedByOther, holder }: ObservedOffer,
): OfferProblem | undefined {
  if (!mayBegin(self, allocation)) {
    // A VF that is in use stays until its pod ends: kubelets do not start containers again whose plugin is gone.
    return isOffered && (holder === "own" || holder === "unknown") ? undefined : "moved";
  }
  if (isOfferedByOther === true) return "offered";
  if (isOffered) return undefined;
  if (isOfferedByOther === undefined) return "unknown";
  switch (holder) {
    case "free":
    case "own":
      return undefined;
    case "other":
      return "held";
    case "unknown":
      return "unknown";
  }
}
