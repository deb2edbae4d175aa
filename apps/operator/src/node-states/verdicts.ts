// SPDX-License-Identifier: Apache-2.0
/**
 * What the merge said of each node, kept so that a policy's status need not merge all nodes again. A derived thing: it
 * is rebuilt from nothing after a start, since every node is reconciled then.
 * Usage: `verdicts.set("worker-1", { ...mergePolicies(node, interfaces, rules), generations })`.
 */
import type { InterfaceStatus, SriovNetworkNodePolicy, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { equalJson } from "@switchyard/kube";
import type { MergedNode } from "@switchyard/policy";
import { isDeepStrictEqual } from "node:util";
import type { NodeStateFacts } from "./node-state-facts.ts";

/** What the merge said of a node, and of which policies it knew. */
export interface Verdict extends Omit<MergedNode, "spec"> {
  /** As it was applied to the node's state. */
  readonly spec: SriovNetworkNodeStateSpec;
  /** metadata.generation of each policy that selected the node. */
  readonly generations: ReadonlyMap<string, number>;
  /** The NICs that were merged for. */
  readonly interfaces: readonly InterfaceStatus[];
}

/** Whether the verdict knows policy and node as they are now. One that does not is about to be replaced. */
export function knows(
  verdict: Verdict | undefined,
  { metadata }: SriovNetworkNodePolicy,
  state: NodeStateFacts | undefined,
): verdict is Verdict {
  return (
    verdict?.generations.get(metadata.name) === (metadata.generation ?? 0) &&
    equalJson(verdict.interfaces, state?.interfaces ?? [])
  );
}

export interface Verdicts {
  get(node: string): Verdict | undefined;
  /** Tells the policies that the verdict before or now is about, if it changed. */
  set(node: string, verdict: Verdict): void;
  delete(node: string): void;
  /**
   * Whether the state has what the verdict on its node says, for the NICs that it was said of. The verdict then takes over
   * the state's values: who compares the two later need not look into them.
   */
  holds(state: Pick<NodeStateFacts, "name" | "spec" | "interfaces">): boolean;
  /** Calls `listener` with the name of each policy whose verdicts change. */
  subscribe(listener: (policyName: string) => void): () => void;
}

export function createVerdicts(): Verdicts {
  const byNode = new Map<string, Verdict>();
  const listeners = new Set<(policyName: string) => void>();

  function tell(...verdicts: readonly (Verdict | undefined)[]): void {
    const names = new Set(verdicts.flatMap((verdict) => verdict?.matches.map(({ policyName }) => policyName) ?? []));
    for (const name of names) for (const listener of listeners) listener(name);
  }

  return {
    get: (node) => byNode.get(node),
    set(node, verdict) {
      const before = byNode.get(node);
      byNode.set(node, verdict);
      if (!isDeepStrictEqual(before, verdict)) tell(before, verdict);
    },
    delete(node) {
      const before = byNode.get(node);
      byNode.delete(node);
      tell(before);
    },
    holds({ name, spec, interfaces }) {
      const verdict = byNode.get(name);
      if (verdict === undefined) return false;
      if (!equalJson(verdict.spec, spec) || !equalJson(verdict.interfaces, interfaces)) return false;
      byNode.set(name, { ...verdict, spec, interfaces });
      return true;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
