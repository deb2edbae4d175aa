// SPDX-License-Identifier: Apache-2.0
export { admit, type AdmitOptions, type Verdict } from "./admit.ts";
export { applyDefaults, type Defaulted, type PatchOperation } from "./defaults.ts";
export { emptyView, type ClusterView } from "./cluster-view.ts";
export { createStateReader, type NodeFacts, type StateFacts } from "./node-facts.ts";
export { describeFinding, type Finding } from "./finding.ts";
export { createInterner, type Interner } from "./intern.ts";
export { longestWarning, mostWarnings } from "./impact-warnings.ts";
export { readPod, type PodOnNode } from "./pod-facts.ts";
export { describeRefusal, type Problem, type Refusal } from "./refusal.ts";
export type { Change, Review, ReviewedKind, ReviewedKinds, ReviewedNetwork } from "./review.ts";
