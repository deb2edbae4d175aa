// SPDX-License-Identifier: Apache-2.0
/**
 * AfxdpMergeResults keeps the result of mergeAfxdpPolicies for each node, for the status of policies. It is kept in memory
 * only: after a start, all nodes are merged again.
 * Usage: `results.set("worker-1", { ...merged, generations });`
 */
import { equalJson } from "@switchyard/kube";
import type { MergedAfxdpNode } from "@switchyard/policy";

/** The merge result of one node. */
export interface AfxdpMergeResult extends Omit<MergedAfxdpNode, "spec"> {
  /** metadata.generation of each policy that selected the node. */
  readonly generations: Readonly<Record<string, number>>;
}

export interface AfxdpMergeResults {
  get(node: string): AfxdpMergeResult | undefined;
  /** If the result changed, notifies the policies of the old and the new result. Undefined removes it. */
  set(node: string, result: AfxdpMergeResult | undefined): void;
  /** Calls `listener` with the name of each policy whose results change. */
  subscribe(listener: (policyName: string) => void): () => void;
}

export function createAfxdpMergeResults(): AfxdpMergeResults {
  const byNode = new Map<string, AfxdpMergeResult>();
  const listeners = new Set<(policyName: string) => void>();
  return {
    get: (node) => byNode.get(node),
    set(node, result) {
      const before = byNode.get(node);
      if (result === undefined) byNode.delete(node);
      else byNode.set(node, result);
      if (equalJson(before, result)) return;
      const matches = [before, result].flatMap((one) => one?.matches ?? []);
      const names = new Set(matches.map(({ policyName }) => policyName));
      for (const name of names) for (const listener of listeners) listener(name);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
