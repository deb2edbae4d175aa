// SPDX-License-Identifier: Apache-2.0
/**
 * createPolicyStatus writes the status of one policy of SR-IOV or AF_XDP: how many nodes it selects, how many of them are
 * configured, and what is wrong on which node (sriov-operator.md K.1).
 */
import type { AfxdpNetworkNodePolicy, Node, SriovNetworkNodePolicy } from "@switchyard/api";
import type { Cache, Reconcile, WriteResult } from "@switchyard/kube";
import { hasLabels, isInNodeSet, labelsOf, type IdleEntry, type Rules, type SelectableNic } from "@switchyard/policy";
import { conditionsFor, type ConditionSummary } from "../reports/condition-summary.ts";
import { policySummary, type NodeOutcome } from "./policy-summary.ts";
import type { RecordTransition } from "../reports/transition-events.ts";

type AnyPolicy = SriovNetworkNodePolicy | AfxdpNetworkNodePolicy;

export interface PolicyStatusSource<Policy extends AnyPolicy> {
  readonly policies: Pick<Cache<Policy>, "get">;
  readonly nodes: Cache<Node>;
  /** Returns the rules that decide which nodes are managed, or why the policy is applied to none. */
  readonly rulesFor: (policy: Policy) => NodeSet | ConditionSummary;
  /** Returns the outcome on a node that the policy selects; undefined while the merge result of the node is missing or old. */
  readonly outcomeOn: (policy: Policy, node: string) => Omit<NodeOutcome, "node"> | undefined;
  /** Returns the entries of nicSelector that match no NIC of these nodes. */
  readonly idleEntries: (policy: Policy, nodes: readonly string[]) => readonly IdleEntry<SelectableNic>[];
  /** Kind of the configuration that decides which nodes are managed. */
  readonly configKind: "SriovOperatorConfig" | "AfxdpOperatorConfig";
  readonly writer: {
    applyStatus(
      intent: { readonly metadata: { readonly name: string }; readonly status: NonNullable<AnyPolicy["status"]> },
      signal: AbortSignal,
    ): Promise<WriteResult>;
  };
  readonly recordTransition: RecordTransition;
  readonly now: () => Date;
}

type NodeSet = Pick<Rules, "nodeSet" | "nodeSetProblem">;

/** Merge results are missing after a start or a change, and counts would be wrong. New results enqueue the key, too. */
const mergePending = { afterMs: 200 };

export function createPolicyStatus<Policy extends AnyPolicy>(source: PolicyStatusSource<Policy>): Reconcile {
  return async function reconcile(name, signal) {
    const policy = source.policies.get(name);
    if (policy === undefined) return undefined;
    const assessment = assess(policy, source);
    if (assessment === undefined) return mergePending;
    const { summary, outcomes } = assessment;
    const { generation = 0 } = policy.metadata;
    const result = await source.writer.applyStatus(
      {
        metadata: { name },
        status: {
          conditions: conditionsFor(summary, policy.status?.conditions ?? [], generation, source.now()),
          observedGeneration: generation,
          matchedNodeCount: outcomes.filter(({ kind }) => kind !== "no-nic").length,
          readyNodeCount: outcomes.filter(({ kind }) => kind === "ready").length,
        },
      },
      signal,
    );
    if (result === "written") source.recordTransition(policy, summary);
    const recheckInMs = Math.min(...outcomes.map(({ recheckInMs: inMs = Infinity }) => inMs));
    return Number.isFinite(recheckInMs) ? { afterMs: recheckInMs } : undefined;
  };
}

interface Assessment {
  readonly summary: ConditionSummary;
  readonly outcomes: readonly NodeOutcome[];
}

/** Returns undefined if the merge result of a node is missing or old. */
function assess<Policy extends AnyPolicy>(
  policy: Policy,
  { nodes, rulesFor, outcomeOn, idleEntries, configKind }: PolicyStatusSource<Policy>,
): Assessment | undefined {
  const rules = rulesFor(policy);
  if ("state" in rules) return { summary: rules, outcomes: [] };
  const { nodeSelector, nicSelector } = policy.spec;
  const outside: string[] = [];
  const outcomes: NodeOutcome[] = [];
  // Nodes are merged in their order, so a missing result is found sooner from the end.
  for (const node of nodes.list().toReversed()) {
    if (!hasLabels(labelsOf(node), nodeSelector)) continue;
    if (!isInNodeSet(node, rules)) {
      outside.push(node.metadata.name);
      continue;
    }
    const outcome = outcomeOn(policy, node.metadata.name);
    if (outcome === undefined) return undefined;
    outcomes.push({ node: node.metadata.name, ...outcome });
  }
  const selection = {
    nodeSelector,
    nicSelector,
    outside,
    nodeSetProblem: rules.nodeSetProblem,
    configKind,
    idleEntries: idleEntries(
      policy,
      outcomes.map(({ node }) => node),
    ),
  };
  return { summary: policySummary(outcomes, selection), outcomes };
}
