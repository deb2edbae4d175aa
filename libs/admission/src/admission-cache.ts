// SPDX-License-Identifier: Apache-2.0
/**
 * AdmissionCache keeps what many reviews of one cluster have in common: groups of equal nodes, the PFs that a stored
 * policy matches, and fingerprints of PFs. The process that answers reviews creates one and passes it to each review.
 *
 * Memory is bounded: groups and matches live as long as the node lists, policies and statuses that they belong to (weak
 * references), and the fingerprints are dropped when there are more than 20,000 of them.
 * Usage: `const cache = createAdmissionCache(); admit(review, view, { nowMs, cache })`.
 */
import { createNodeGrouping, type GroupNodes } from "./node-groups.ts";
import { createPfFingerprints, type PfFingerprint } from "./pf-fingerprints.ts";
import { createPfMatcher, type MatchPfs } from "./policy-targets.ts";

export interface AdmissionCache {
  readonly groupNodes: GroupNodes;
  readonly matchPfs: MatchPfs;
  readonly pfFingerprint: PfFingerprint;
}

/** Returns an empty cache. Objects that are given to admit() with this cache must not change afterwards. */
export function createAdmissionCache(): AdmissionCache {
  return { groupNodes: createNodeGrouping(), matchPfs: createPfMatcher(), pfFingerprint: createPfFingerprints() };
}
