// SPDX-License-Identifier: Apache-2.0
/**
 * NodeResults keeps the merge result of each node, so that the status of a policy need not merge all nodes again. It is kept
 * in memory only: after a start, all nodes are merged again.
 */
import { equalJson } from "@switchyard/kube";
import { isDeepStrictEqual } from "node:util";

/** What the status of policies needs of every result. */
export interface NodeResult {
  /** The policies that selected the node. */
  readonly matches: readonly { readonly policyName: string }[];
  /** metadata.generation of each policy that selected the node. */
  readonly generations: ReadonlyMap<string, number>;
  /** The NICs of the node; undefined if it has not reported them. */
  readonly interfaces: readonly object[] | undefined;
}

interface Policy {
  readonly metadata: { readonly name: string; readonly generation?: number };
}

export interface NodeResults<Result extends NodeResult> {
  get(node: string): Result | undefined;
  /** If the result changed, notifies the policies of the old and the new result. */
  set(node: string, result: Result): void;
  /** Stores an equal result, which notifies nobody. */
  replace(node: string, result: Result): void;
  delete(node: string): void;
  /** Calls `listener` with the name of each policy whose results change. */
  subscribe(listener: (policyName: string) => void): () => void;
}

export function createNodeResults<Result extends NodeResult>(): NodeResults<Result> {
  const byNode = new Map<string, Result>();
  const listeners = new Set<(policyName: string) => void>();

  function notify(...results: readonly (Result | undefined)[]): void {
    const names = new Set(results.flatMap((result) => result?.matches.map(({ policyName }) => policyName) ?? []));
    for (const name of names) for (const listener of listeners) listener(name);
  }

  return {
    get: (node) => byNode.get(node),
    set(node, result) {
      const before = byNode.get(node);
      byNode.set(node, result);
      if (!isDeepStrictEqual(before, result)) notify(before, result);
    },
    replace(node, result) {
      byNode.set(node, result);
    },
    delete(node) {
      const before = byNode.get(node);
      byNode.delete(node);
      notify(before);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Reports whether the result was computed from the current policy and NICs. Otherwise it is about to be replaced. */
export function isUpToDate<Result extends NodeResult>(
  result: Result | undefined,
  policy: Policy,
  interfaces: NodeResult["interfaces"],
): result is Result {
  const { name, generation = 0 } = policy.metadata;
  return result?.generations.get(name) === generation && equalJson(result.interfaces, interfaces);
}

/** Returns the generations of the policies that selected the node. A change of another policy then changes no result. */
export function generationsOf(
  { matches }: Pick<NodeResult, "matches">,
  policies: readonly Policy[],
): ReadonlyMap<string, number> {
  const selecting = new Set(matches.map(({ policyName }) => policyName));
  const ofNode = policies.filter(({ metadata }) => selecting.has(metadata.name));
  return new Map(ofNode.map(({ metadata }) => [metadata.name, metadata.generation ?? 0]));
}
