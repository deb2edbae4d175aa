// SPDX-License-Identifier: Apache-2.0
/**
 * What a change of policies does to the nodes: what the operator would merge and the daemons would plan, before and after.
 * Both come from the same functions as there, so that nothing is promised that does not happen.
 * Usage: `impactOf({ before: policies, after: [...policies, mine] }, view, { nowMs, budgetMs: 150 })`.
 */
import type { InterfaceStatus, SriovNetworkNodePolicy, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { ownedInStatus, plan, type Impact, type Plan, type Step } from "@switchyard/plan";
import { createRules, hasLabels, isInNodeSet, mergePolicies, type Rules } from "@switchyard/policy";
import type { ClusterView } from "./cluster-view.ts";
import { describePfSteps } from "./describe-pf-steps.ts";
import type { StateFacts } from "./node-facts.ts";
import { asNode, isDiscovered, type DiscoveredNode } from "./reach.ts";

/** The policies of the cluster, as they are and as they shall be. */
export interface PolicyChange {
  readonly before: readonly SriovNetworkNodePolicy[];
  readonly after: readonly SriovNetworkNodePolicy[];
}

/** What happens to one PF, or to the node as a whole. */
export interface PfChange {
  /** Absent for what belongs to no PF. */
  readonly pciAddress?: string | undefined;
  /** "8 -> 16 VFs". */
  readonly summary: string;
  readonly impact: Impact;
  /** What of the wish cannot be done: "9 VFs asked for, 0000:01:00.0 can have 7". */
  readonly problems: readonly string[];
}

/** What happens to one node. */
export interface NodeImpact {
  readonly node: DiscoveredNode;
  readonly impact: Impact;
  readonly changes: readonly PfChange[];
}

export interface ClusterImpact {
  /** Nodes for which something changes. */
  readonly nodes: readonly NodeImpact[];
  /** Nodes that were not looked at, as the time was up. */
  readonly skipped: number;
}

export interface ImpactLimits {
  readonly nowMs: () => number;
  /** How long it may take. */
  readonly budgetMs: number;
}

export function impactOf(change: PolicyChange, view: ClusterView, limits: ImpactLimits): ClusterImpact {
  const deadlineMs = limits.nowMs() + limits.budgetMs;
  const changed = changedPolicies(change);
  const { operatorConfig } = view;
  const rulesOf = (policies: readonly SriovNetworkNodePolicy[]): Rules =>
    createRules({ policies, pools: [], operatorConfig });
  const [before, after] = [rulesOf(change.before), rulesOf(change.after)];
  const concerned = view.nodes.filter(isDiscovered).filter((node) => {
    return changed.some(({ spec }) => hasLabels(node.labels, spec.nodeSelector)) && isInNodeSet(asNode(node), after);
  });

  const judge = createJudge(before, after);
  const nodes: NodeImpact[] = [];
  for (const [index, node] of concerned.entries()) {
    // At least one, however slow the machine is.
    if (index > 0 && limits.nowMs() > deadlineMs) return { nodes, skipped: concerned.length - index };
    const { impact, changes } = judge(node);
    if (changes.length > 0) nodes.push({ node, impact, changes });
  }
  return { nodes, skipped: 0 };
}

type Verdict = Omit<NodeImpact, "node">;

/** The specs of nodes with one layout that the same policies select. */
interface MergedSpecs {
  readonly before: SriovNetworkNodeStateSpec;
  readonly after: SriovNetworkNodeStateSpec;
  readonly verdicts: Map<StateFacts["status"], Verdict>;
}

const unchanged: Verdict = { impact: "none", changes: [] };

/** Judges each sort of node once: equal layouts and statuses are the same objects (node-facts.ts). */
function createJudge(before: Rules, after: Rules): (node: DiscoveredNode) => Verdict {
  const merged = new Map<readonly InterfaceStatus[], Map<string, MergedSpecs>>();
  const policies = [...before.policies, ...after.policies];

  function specsOf(node: DiscoveredNode): MergedSpecs {
    const { layout } = node.state;
    const selecting = policies.map(({ spec }) => (hasLabels(node.labels, spec.nodeSelector) ? "1" : "0")).join("");
    const ofLayout = merged.get(layout) ?? new Map<string, MergedSpecs>();
    merged.set(layout, ofLayout);
    const known = ofLayout.get(selecting);
    if (known !== undefined) return known;
    const specs: MergedSpecs = {
      before: mergePolicies(asNode(node), layout, before).spec,
      after: mergePolicies(asNode(node), layout, after).spec,
      verdicts: new Map(),
    };
    ofLayout.set(selecting, specs);
    return specs;
  }

  return function judge(node) {
    const specs = specsOf(node);
    const { status } = node.state;
    const known = specs.verdicts.get(status);
    if (known !== undefined) return known;
    const verdict = isEqual(specs.before, specs.after) ? unchanged : compare(specs, status);
    specs.verdicts.set(status, verdict);
    return verdict;
  };
}

function compare({ before, after }: MergedSpecs, status: StateFacts["status"]): Verdict {
  const owned = ownedInStatus(status);
  const pending = plan(before, status, owned);
  const next = plan(after, status, owned);
  const news = newIn(next, pending);
  const touched = new Set([
    ...changedPfs(before, after),
    ...news.steps.flatMap((step) => ("pciAddress" in step ? [step.pciAddress] : [])),
    ...news.reasons.map(({ pciAddress }) => pciAddress),
    ...news.problems.flatMap(({ pciAddress }) => pciAddress ?? []),
  ]);
  const changes = [...touched].map((pciAddress): PfChange => {
    const ofPf = <Item>(items: readonly Item[]) => items.filter((item) => pfOf(item) === pciAddress);
    return {
      pciAddress,
      summary: describePfSteps(ofPf(news.steps), ofPf(news.reasons)),
      impact: ofPf(news.reasons).length > 0 ? next.impact : "none",
      problems: ofPf(news.problems).map(({ message }) => message),
    };
  });
  const general = news.problems.filter((problem) => problem.pciAddress === undefined).map(({ message }) => message);
  if (general.length > 0) changes.push({ summary: "", impact: "none", problems: general });
  return { impact: news.reasons.length > 0 ? next.impact : "none", changes };
}

/** What the change brings: that which was to be done anyway is not its doing. */
function newIn(next: Plan, pending: Plan): Pick<Plan, "steps" | "reasons" | "problems"> {
  if (pending.steps.length === 0 && pending.problems.length === 0) return next; // the node has all that was asked
  const steps = new Set(pending.steps.map(keyOfStep));
  const reasons = new Set(pending.reasons.map(({ text }) => text));
  const problems = new Set(pending.problems.map(({ message }) => message));
  return {
    steps: next.steps.filter((step) => !steps.has(keyOfStep(step))),
    reasons: next.reasons.filter(({ text }) => !reasons.has(text)),
    problems: next.problems.filter(({ message }) => !problems.has(message)),
  };
}

function keyOfStep(step: Step): string {
  return JSON.stringify(step);
}

function pfOf(item: unknown): unknown {
  return typeof item === "object" && item !== null && "pciAddress" in item ? item.pciAddress : undefined;
}

/** PFs whose wishes differ. */
function changedPfs(before: SriovNetworkNodeStateSpec, after: SriovNetworkNodeStateSpec): readonly string[] {
  const old = new Map((before.interfaces ?? []).map((pf) => [pf.pciAddress, pf]));
  const added = (after.interfaces ?? []).filter((pf) => !isEqual(old.get(pf.pciAddress), pf));
  const kept = new Set((after.interfaces ?? []).map(({ pciAddress }) => pciAddress));
  return [...added.map(({ pciAddress }) => pciAddress), ...[...old.keys()].filter((address) => !kept.has(address))];
}

/** Policies that came, went or differ, in each of their versions. */
function changedPolicies({ before, after }: PolicyChange): readonly SriovNetworkNodePolicy[] {
  return [...before.filter((policy) => !after.includes(policy)), ...after.filter((policy) => !before.includes(policy))];
}

/** Both come from the same code, with their keys in the same order. */
function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
