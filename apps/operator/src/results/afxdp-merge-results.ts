// SPDX-License-Identifier: Apache-2.0
/**
 * AfxdpMergeResults keeps the result of mergeAfxdpPolicies for each node, and the inputs that it was computed from.
 */
import type { AfxdpInterfaceStatus, AfxdpNetworkNodeState, AfxdpNetworkNodeStateSpec } from "@switchyard/api";
import { equalJson, type CacheChange } from "@switchyard/kube";
import type { MergedAfxdpNode } from "@switchyard/policy";
import { createNodeResults, type NodeResult, type NodeResults } from "./node-results.ts";

/** The merge result of one node. */
export interface AfxdpMergeResult extends Omit<MergedAfxdpNode, "spec">, Pick<NodeResult, "generations"> {
  /** The spec that was applied to the node's state. */
  readonly spec: AfxdpNetworkNodeStateSpec;
  /** The devices of the node; undefined before its first report. */
  readonly interfaces: readonly AfxdpInterfaceStatus[] | undefined;
}

export interface AfxdpMergeResults extends NodeResults<AfxdpMergeResult> {
  /**
   * Reports whether the change of a state only shows the operator's own write, so that nothing is left to do. It is false for a
   * state that replaces another one, and for one with annotations, which has a deletion deadline.
   */
  isOwnWrite(change: CacheChange<AfxdpNetworkNodeState>): boolean;
}

export function createAfxdpMergeResults(): AfxdpMergeResults {
  const results = createNodeResults<AfxdpMergeResult>();
  return {
    ...results,
    isOwnWrite({ key, before, after }) {
      const result = results.get(key);
      if (result === undefined || after === undefined || after.metadata.annotations !== undefined) return false;
      if (before !== undefined && before.metadata.uid !== after.metadata.uid) return false;
      const { spec = {}, status: { interfaces } = {} } = after;
      if (!equalJson(result.spec, spec) || !equalJson(result.interfaces, interfaces)) return false;
      results.replace(key, { ...result, spec, interfaces }); // of which there is one copy then
      return true;
    },
  };
}
