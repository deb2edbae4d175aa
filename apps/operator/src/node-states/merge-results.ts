// SPDX-License-Identifier: Apache-2.0
/**
 * MergeResults keeps the result of mergePolicies for each node, so that the status of a policy need not merge all nodes
 * again. It is kept in memory only: after a start, all nodes are merged again.
 * Usage: `mergeResults.set("worker-1", { ...merged, spec, interfaces, generations });`
 */
import type { InterfaceStatus, SriovNetworkNodePolicy, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { equalJson } from "@switchyard/kube";
import type { MergedNode } from "@switchyard/policy";
import { isDeepStrictEqual } from "node:util";
import type { NodeStateFacts } from "./node-state-facts.ts";

/** The merge result of one node, with the inputs that it was computed from. */
export interface MergeResult extends Omit<MergedNode, "spec"> {
  /** The spec that was applied to the node's state. */
  readonly spec: SriovNetworkNodeStateSpec;
  /** metadata.generation of each policy that selected the node. */
  readonly generations: ReadonlyMap<string, number>;
  /** The NICs of the node. */
  readonly interfaces: readonly InterfaceStatus[];
}

/** Reports whether the result was computed from the current policy and NICs. Otherwise it is about to be replaced. */
export function isUpToDate(
  mergeResult: MergeResult | undefined,
  { metadata }: SriovNetworkNodePolicy,
  state: NodeStateFacts | undefined,
): mergeResult is MergeResult {
  return (
    mergeResult?.generations.get(metadata.name) === (metadata.generation ?? 0) &&
    equalJson(mergeResult.interfaces, state?.interfaces ?? [])
  );
}

export interface MergeResults {
  get(node: string): MergeResult | undefined;
  /** If the result changed, notifies the policies of the old and the new result. */
  set(node: string, mergeResult: MergeResult): void;
  delete(node: string): void;
  /**
   * Reports whether the state has the spec of its node's result, for the same NICs. If so, the result takes over the
   * state's own values, so that later comparisons of the two find the same objects.
   */
  isApplied(state: Pick<NodeStateFacts, "name" | "spec" | "interfaces">): boolean;
  /** Calls `listener` with the name of each policy whose results change. */
  subscribe(listener: (policyName: string) => void): () => void;
}

export function createMergeResults(): MergeResults {
  const byNode = new Map<string, MergeResult>();
  const listeners = new Set<(policyName: string) => void>();

  function notify(...results: readonly (MergeResult | undefined)[]): void {
    const names = new Set(results.flatMap((result) => result?.matches.map(({ policyName }) => policyName) ?? []));
    for (const name of names) for (const listener of listeners) listener(name);
  }

  return {
    get: (node) => byNode.get(node),
    set(node, mergeResult) {
      const before = byNode.get(node);
      byNode.set(node, mergeResult);
      if (!isDeepStrictEqual(before, mergeResult)) notify(before, mergeResult);
    },
    delete(node) {
      const before = byNode.get(node);
      byNode.delete(node);
      notify(before);
    },
    isApplied({ name, spec, interfaces }) {
      const mergeResult = byNode.get(name);
      if (mergeResult === undefined) return false;
      if (!equalJson(mergeResult.spec, spec) || !equalJson(mergeResult.interfaces, interfaces)) return false;
      byNode.set(name, { ...mergeResult, spec, interfaces });
      return true;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
