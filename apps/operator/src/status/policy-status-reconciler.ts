// SPDX-License-Identifier: Apache-2.0
/**
 * createPolicyStatusReconciler writes the status of one SriovNetworkNodePolicy: how many nodes it selects, how many of
 * them are configured, and what is wrong on which node (sriov-operator.md K.1).
 */
import { policyReasons, type Node, type SriovNetworkNodePolicy } from "@switchyard/api";
import type { Cache, Reconcile, Writer } from "@switchyard/kube";
import { hasLabels, isInNodeSet, labelsOf, type Rules } from "@switchyard/policy";
import type { LiveRules } from "../facts/live-rules.ts";
import { conditionsFor, isReady, withoutOperatorConfig, type ConditionSummary } from "../reports/condition-summary.ts";
import { progressOf } from "../results/node-progress.ts";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import { firstProblems, policySummary, type NodeOutcome } from "./policy-summary.ts";
import type { RecordTransition } from "../reports/transition-events.ts";
import type { MergeResult, MergeResults } from "../results/merge-results.ts";
import { isUpToDate } from "../results/node-results.ts";

export interface PolicyStatusDeps {
  readonly policies: Cache<SriovNetworkNodePolicy>;
  readonly nodes: Cache<Node>;
  readonly states: Cache<CachedNodeState>;
  readonly rules: LiveRules;
  readonly mergeResults: MergeResults;
  readonly writer: Writer<SriovNetworkNodePolicy>;
  readonly recordTransition: RecordTransition;
  readonly now: () => Date;
}

interface SelectedNode {
  readonly node: string;
  readonly mergeResult: MergeResult;
  readonly state: CachedNodeState | undefined;
}

const ignored: ConditionSummary = {
  state: "idle",
  reason: policyReasons.ignored,
  message: 'a policy named "default" is never applied; use another name',
};

/** Merge results are missing after a start or a change, and counts would be wrong. New results enqueue the key, too. */
const mergePending = { afterMs: 200 };

export function createPolicyStatusReconciler(deps: PolicyStatusDeps): Reconcile {
  return async function reconcile(name, signal) {
    const policy = deps.policies.get(name);
    if (policy === undefined) return undefined;
    const assessment = assess(policy, deps);
    if (assessment === undefined) return mergePending;

    const { summary, matchedNodeCount, readyNodeCount } = assessment;
    const { generation = 0 } = policy.metadata;
    const result = await deps.writer.applyStatus(
      {
        metadata: { name },
        status: {
          conditions: conditionsFor(summary, policy.status?.conditions ?? [], generation, deps.now()),
          observedGeneration: generation,
          matchedNodeCount,
          readyNodeCount,
        },
      },
      signal,
    );
    if (result === "written") deps.recordTransition(policy, summary);
    return undefined;
  };
}

interface Assessment {
  readonly summary: ConditionSummary;
  readonly matchedNodeCount: number;
  readonly readyNodeCount: number;
}

/** Returns undefined if the merge result of a node is missing. */
function assess(policy: SriovNetworkNodePolicy, deps: PolicyStatusDeps): Assessment | undefined {
  const none = { matchedNodeCount: 0, readyNodeCount: 0 };
  const rules = deps.rules();
  if (rules === undefined) return { summary: withoutOperatorConfig, ...none };
  if (!rules.policies.some(({ metadata }) => metadata.name === policy.metadata.name)) {
    return { summary: ignored, ...none };
  }
  const selected: SelectedNode[] = [];
  // Nodes are merged in their order, so a missing result is found sooner from the end.
  for (const { metadata } of selectedNodes(policy, deps.nodes.list().toReversed(), rules)) {
    const node = metadata.name;
    const mergeResult = deps.mergeResults.get(node);
    const state = deps.states.get(node);
    if (!isUpToDate(mergeResult, policy, state?.interfaces ?? [])) return undefined;
    selected.push({ node, mergeResult, state });
  }
  const wasReady = isReady(policy);
  const outcomes = selected.map((one) => outcomeOn(policy, one, wasReady));
  const readyNodeCount = outcomes.filter(({ kind }) => kind === "ready").length;
  return {
    summary: policySummary(outcomes, policy.spec),
    matchedNodeCount: outcomes.length,
    readyNodeCount,
  };
}

function* selectedNodes(policy: SriovNetworkNodePolicy, nodes: readonly Node[], rules: Rules): Generator<Node> {
  for (const node of nodes) {
    if (isInNodeSet(node, rules) && hasLabels(labelsOf(node), policy.spec.nodeSelector)) yield node;
  }
}

function outcomeOn(
  policy: SriovNetworkNodePolicy,
  { node, mergeResult, state }: SelectedNode,
  wasReady: boolean,
): NodeOutcome {
  const { name } = policy.metadata;
  const { error, warning } = firstProblems(name, mergeResult.problems, "no-match");
  const pciAddresses = mergeResult.matches.find(({ policyName }) => policyName === name)?.pciAddresses ?? [];
  const portCount = pciAddresses.length;
  if (error !== undefined) return { node, kind: "invalid", message: error, portCount };
  if (state === undefined || state.interfaces.length === 0) {
    return { node, kind: "configuring", message: "", portCount, warning };
  }
  if (portCount === 0) return { node, kind: "no-nic", message: "", portCount };
  const progress = progressOf(state, mergeResult.spec, { pciAddresses, wasReady });
  const message = progress.kind === "failed" ? progress.message : "";
  return { node, kind: progress.kind, message, portCount, warning };
}
