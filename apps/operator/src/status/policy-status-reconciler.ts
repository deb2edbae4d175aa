// SPDX-License-Identifier: Apache-2.0
/**
 * The status of one SriovNetworkNodePolicy: how many nodes it selects, how many have what it asks, and what is wrong
 * with it on which node (sriov-operator.md K.1).
 */
import { policyReasons, type Node, type SriovNetworkNodePolicy } from "@switchyard/api";
import type { Cache, Reconcile, Writer } from "@switchyard/kube";
import { hasLabels, isInNodeSet, labelsOf, type Rules } from "@switchyard/policy";
import type { LiveRules } from "../node-states/live-rules.ts";
import { conditionsFor, isReady, withoutOperatorConfig, type Judgement } from "./judgement.ts";
import { progressOf } from "../node-states/node-progress.ts";
import type { NodeStateFacts } from "../node-states/node-state-facts.ts";
import type { TellTransition } from "./transition-events.ts";
import { knows, type Verdict, type Verdicts } from "../node-states/verdicts.ts";

export interface PolicyStatusDeps {
  readonly policies: Cache<SriovNetworkNodePolicy>;
  readonly nodes: Cache<Node>;
  readonly states: Cache<NodeStateFacts>;
  readonly rules: LiveRules;
  readonly verdicts: Verdicts;
  readonly writer: Writer<SriovNetworkNodePolicy>;
  readonly tell: TellTransition;
  readonly now: () => Date;
}

interface NodeKnowledge {
  readonly node: string;
  readonly verdict: Verdict;
  readonly state: NodeStateFacts | undefined;
}

/** What became of a policy on one node. */
interface NodeOutcome {
  readonly node: string;
  readonly kind: "ready" | "configuring" | "failed" | "invalid" | "no-nic";
  readonly message: string;
}

const ignored: Judgement = {
  state: "idle",
  reason: policyReasons.ignored,
  message: 'a policy named "default" is never applied; use another name',
};

/** While verdicts are missing, right after a start or a change, counting would tell lies. New ones wake this key, too. */
const verdictsMissing = { afterMs: 200 };

export function createPolicyStatusReconciler(deps: PolicyStatusDeps): Reconcile {
  return async function reconcile(name, signal) {
    const policy = deps.policies.get(name);
    if (policy === undefined) return undefined;
    const assessment = assess(policy, deps);
    if (assessment === undefined) return verdictsMissing;

    const { judgement, matchedNodeCount, readyNodeCount } = assessment;
    const { generation = 0 } = policy.metadata;
    const result = await deps.writer.applyStatus(
      {
        metadata: { name },
        status: {
          conditions: conditionsFor(judgement, policy.status?.conditions ?? [], generation, deps.now()),
          observedGeneration: generation,
          matchedNodeCount,
          readyNodeCount,
        },
      },
      signal,
    );
    if (result === "written") deps.tell(policy, judgement);
    return undefined;
  };
}

/** What is to be said of a policy. */
interface Assessment {
  readonly judgement: Judgement;
  readonly matchedNodeCount: number;
  readonly readyNodeCount: number;
}

/** Undefined where a verdict is missing. */
function assess(policy: SriovNetworkNodePolicy, deps: PolicyStatusDeps): Assessment | undefined {
  const none = { matchedNodeCount: 0, readyNodeCount: 0 };
  const rules = deps.rules();
  if (rules === undefined) return { judgement: withoutOperatorConfig, ...none };
  if (!rules.policies.some(({ metadata }) => metadata.name === policy.metadata.name)) {
    return { judgement: ignored, ...none };
  }
  const known: NodeKnowledge[] = [];
  // Nodes are merged for in their order: one that is still missing is soon found from the end.
  for (const { metadata } of selectedNodes(policy, deps.nodes.list().toReversed(), rules)) {
    const node = metadata.name;
    const verdict = deps.verdicts.get(node);
    const state = deps.states.get(node);
    if (!knows(verdict, policy, state)) return undefined;
    known.push({ node, verdict, state });
  }
  const wasReady = isReady(policy);
  const outcomes = known.map((one) => outcomeOn(policy, one, wasReady));
  const readyNodeCount = outcomes.filter(({ kind }) => kind === "ready").length;
  return { judgement: judge(outcomes), matchedNodeCount: outcomes.length, readyNodeCount };
}

function* selectedNodes(policy: SriovNetworkNodePolicy, nodes: readonly Node[], rules: Rules): Generator<Node> {
  for (const node of nodes) {
    if (isInNodeSet(node, rules) && hasLabels(labelsOf(node), policy.spec.nodeSelector)) yield node;
  }
}

function outcomeOn(
  policy: SriovNetworkNodePolicy,
  { node, verdict, state }: NodeKnowledge,
  wasReady: boolean,
): NodeOutcome {
  const { name } = policy.metadata;
  const wrong = verdict.problems.find(({ policyName, severity }) => policyName === name && severity === "error");
  if (wrong !== undefined) return { node, kind: "invalid", message: `${wrong.field}: ${wrong.message}` };
  if (state === undefined || state.interfaces.length === 0) return { node, kind: "configuring", message: "" };
  const pciAddresses = verdict.matches.find(({ policyName }) => policyName === name)?.pciAddresses ?? [];
  if (pciAddresses.length === 0) return { node, kind: "no-nic", message: "" };
  const progress = progressOf(state, verdict.spec, { pciAddresses, wasReady });
  return { node, kind: progress.kind, message: progress.kind === "failed" ? progress.message : "" };
}

function judge(outcomes: readonly NodeOutcome[]): Judgement {
  const of = (kind: NodeOutcome["kind"]) => outcomes.filter((outcome) => outcome.kind === kind);
  const [invalid, failed, configuring, ready, withoutNic] = [
    of("invalid"),
    of("failed"),
    of("configuring"),
    of("ready"),
    of("no-nic"),
  ];
  const rest = withoutNic.length > 0 ? `no NIC matches on ${listNodes(withoutNic)}` : "";
  const done = `${ready.length} of ${outcomes.length - withoutNic.length} nodes configured`;
  const counts = withoutNic.length === outcomes.length ? rest : [done, rest].filter((part) => part !== "").join("; ");
  if (invalid.length > 0) return { state: "degraded", reason: policyReasons.invalid, message: firstOf(invalid) };
  if (failed.length > 0) return { state: "degraded", reason: policyReasons.nodesFailed, message: firstOf(failed) };
  if (outcomes.length === 0) {
    return { state: "idle", reason: policyReasons.noNodes, message: "spec.nodeSelector selects no nodes" };
  }
  if (configuring.length > 0) return { state: "progressing", reason: policyReasons.configuring, message: counts };
  if (ready.length === 0) return { state: "idle", reason: policyReasons.noNics, message: counts };
  return { state: "ready", reason: policyReasons.configured, message: counts };
}

/** "worker-1: spec.interfaces[0].numVfs: …; 3 more nodes". */
function firstOf(outcomes: readonly NodeOutcome[]): string {
  const [first] = outcomes.toSorted((a, b) => (a.node < b.node ? -1 : 1));
  const more = outcomes.length - 1;
  return `${first?.node ?? ""}: ${first?.message ?? ""}${more > 0 ? `; ${more} more ${more === 1 ? "node" : "nodes"}` : ""}`;
}

function listNodes(outcomes: readonly NodeOutcome[]): string {
  const names = outcomes.map(({ node }) => node).sort();
  return names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
}
