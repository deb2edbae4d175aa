// SPDX-License-Identifier: Apache-2.0
/**
 * What the merge said of each node, kept so that a policy's status need not merge all nodes again. A derived thing: it
 * is rebuilt from nothing after a start, since every node is reconciled then.
 * Usage: `mergeResults.set("worker-1", { ...mergePolicies(node, interfaces, rules), generations })`.
 */
import type { InterfaceStatus, SriovNetworkNodePolicy, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { equalJson } from "@switchyard/kube";
import type { MergedNode } from "@switchyard/policy";
import { isDeepStrictEqual } from "node:util";
import type { NodeStateFacts } from "./node-state-facts.ts";

/** What the merge said of a node, and of which policies it knew. */
export interface MergeResult extends Omit<MergedNode, "spec"> {
  /** As it was applied to the node's state. */
  readonly spec: SriovNetworkNodeStateSpec;
  /** metadata.generation of each policy that selected the node. */
  readonly generations: ReadonlyMap<string, number>;
  /** The NICs that were merged for. */
  readonly interfaces: readonly InterfaceStatus[];
}

/** Whether the mergeResult isUpToDate policy and node as they are now. One that does not is about to be replaced. */
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
  /** Tells the policies that the mergeResult before or now is about, if it changed. */
  set(node: string, mergeResult: MergeResult): void;
  delete(node: string): void;
  /**
   * Whether the state has what the mergeResult on its node says, for the NICs that it was said of. The mergeResult then takes over
   * the state's values: who compares the two later need not look into them.
   */
  isApplied(state: Pick<NodeStateFacts, "name" | "spec" | "interfaces">): boolean;
  /** Calls `listener` with the name of each policy whose mergeResults change. */
  subscribe(listener: (policyName: string) => void): () => void;
}

export function createMergeResults(): MergeResults {
  const byNode = new Map<string, MergeResult>();
  const listeners = new Set<(policyName: string) => void>();

  function tell(...mergeResults: readonly (MergeResult | undefined)[]): void {
    const names = new Set(
      mergeResults.flatMap((mergeResult) => mergeResult?.matches.map(({ policyName }) => policyName) ?? []),
    );
    for (const name of names) for (const listener of listeners) listener(name);
  }

  return {
    get: (node) => byNode.get(node),
    set(node, mergeResult) {
      const before = byNode.get(node);
      byNode.set(node, mergeResult);
      if (!isDeepStrictEqual(before, mergeResult)) tell(before, mergeResult);
    },
    delete(node) {
      const before = byNode.get(node);
      byNode.delete(node);
      tell(before);
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
