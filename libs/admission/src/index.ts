// SPDX-License-Identifier: Apache-2.0
/**
 * Admission of Switchyard's objects: defaults, rules, and warnings about what a change does to nodes and pods. Pure: the
 * webhook and the command line call the same functions.
 */
export { admit, type AdmissionResult, type AdmitOptions } from "./admit.ts";
export { createAdmissionCache, type AdmissionCache } from "./policy-context.ts";
export { applyDefaults, type PatchOperation } from "./defaults.ts";
export { emptyView, type AfxdpNodeReport, type AfxdpView, type ClusterView } from "./cluster-view.ts";
export {
  createStateReader,
  type NodeForReview,
  type ReducedNodeState,
  createInterner,
  readPod,
  type PodOnNode,
} from "./node-for-review.ts";
export { describeFinding, describeRefusal, type Problem } from "./finding.ts";
export {
  isReviewedKind,
  reviewedKinds,
  toReview,
  type Review,
  type ReviewedChange,
  type ReviewedKind,
  type ReviewedKinds,
  type UnreadChange,
} from "./review.ts";
