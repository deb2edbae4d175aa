// SPDX-License-Identifier: Apache-2.0
/** MergeResults keeps the result of mergePolicies for each node, and the inputs that it was computed from. */
import type { InterfaceStatus, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { equalJson } from "@switchyard/kube";
import type { MergedNode } from "@switchyard/policy";
import { createNodeResults, type NodeResult, type NodeResults } from "./node-results.ts";
import type { CachedNodeState } from "../facts/cached-node-state.ts";

/** The merge result of one node, with the inputs that it was computed from. */
export interface MergeResult extends Omit<MergedNode, "spec">, Pick<NodeResult, "generations"> {
  /** The spec that was applied to the node's state. */
  readonly spec: SriovNetworkNodeStateSpec;
  /** The NICs of the node. */
  readonly interfaces: readonly InterfaceStatus[];
}

export interface MergeResults extends NodeResults<MergeResult> {
  /**
   * Reports whether the state has the spec of its node's result, for the same NICs. If so, the result takes over the
   * state's own values, so that later comparisons of the two find the same objects.
   */
  isApplied(state: Pick<CachedNodeState, "name" | "spec" | "interfaces">): boolean;
}

export function createMergeResults(): MergeResults {
  const results = createNodeResults<MergeResult>();
  return {
    ...results,
    isApplied({ name, spec, interfaces }) {
      const mergeResult = results.get(name);
      if (mergeResult === undefined) return false;
      if (!equalJson(mergeResult.spec, spec) || !equalJson(mergeResult.interfaces, interfaces)) return false;
      results.replace(name, { ...mergeResult, spec, interfaces });
      return true;
    },
  };
}
