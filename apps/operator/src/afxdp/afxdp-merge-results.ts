// SPDX-License-Identifier: Apache-2.0
/** AfxdpMergeResults keeps the result of mergeAfxdpPolicies for each node. */
import type { MergedAfxdpNode } from "@switchyard/policy";
import type { NodeResult, NodeResults } from "../node-states/node-results.ts";

/** The merge result of one node. */
export type AfxdpMergeResult = Omit<MergedAfxdpNode, "spec"> & NodeResult;

export type AfxdpMergeResults = NodeResults<AfxdpMergeResult>;
