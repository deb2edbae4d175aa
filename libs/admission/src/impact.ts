// SPDX-License-Identifier: Apache-2.0
/**
 * What a change of policies does to the nodes: what the operator would merge and the daemons would plan, before and after.
 * Both come from the same functions as there, so that nothing is promised that does not happen.
 * Usage: `impactOf({ before: policies, after: [...policies, mine] }, view, { nowMs, budgetMs: 150 })`.
 */
import type { InterfaceStatus, SriovNetworkNodePolicy, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { ownedInStatus, plan, type Impact, type Plan, type Step } from "@switchyard/plan";
import { createRules, mergePolicies, nodeSetLabels, type Labels, type Rules } from "@switchyard/policy";
import type { ClusterView } from "./cluster-view.ts";
import { describePfSteps } from "./describe-pf-steps.ts";
import type { StateFacts } from "./node-facts.ts";
import { isDiscovered, selects, sortsOf, type DiscoveredSort } from "./node-sorts.ts";
import { asNode } from "./reach.ts";
import { sortOfPf } from "./pf-sorts.ts";
import { touchedPfs, type TouchedPf } from "./touched-pfs.ts";

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
  /** Resources that the PF's VFs were for before the change. */
  readonly resources: readonly string[];
  /** What of the wish cannot be done: "9 VFs asked for, 0000:01:00.0 can have 7". */
  readonly problems: readonly string[];
}

/** What happens to each of some nodes. */
export interface SortImpact {
  readonly sort: DiscoveredSort;
  readonly impact: Impact;
  readonly changes: readonly PfChange[];
}

export interface ClusterImpact {
  /** Nodes for which something changes. */
  readonly sorts: readonly SortImpact[];
  /** How many nodes were not looked at, as the time was up. */
  readonly skipped: number;
}

export interface ImpactLimits {
  readonly nowMs: () => number;
  /** How long it may take. */
  readonly budgetMs: number;
}

export function impactOf(change: PolicyChange, view: ClusterView, limits: ImpactLimits): ClusterImpact {
  const deadlineMs = limits.nowMs() + limits.budgetMs;
  const { operatorConfig, nics } = view;
  const before = createRules({ policies: change.before, pools: [], operatorConfig, nics });
  const after = createRules({ policies: change.after, pools: [], operatorConfig, nics });
  const concerned = changedPolicies(change).map(({ spec }) => selects(spec.nodeSelector));
  const daemonLabels = nodeSetLabels(operatorConfig);
  const hasDaemon = selects(daemonLabels);
  const selectors = [...change.before, ...change.after].map(({ spec }) => spec.nodeSelector);

  const sorts: SortImpact[] = [];
  const judges = new Map<Labels, (state: StateFacts) => Verdict>();
  let looked = 0;
  let skipped = 0;
  for (const sort of sortsOf(view.nodes, [...selectors, daemonLabels]).filter(isDiscovered)) {
    const { labels, state, nodes } = sort;
    if (!hasDaemon(sort) || !concerned.some((isSelected) => isSelected(sort))) continue;
    // At least one, however slow the machine is.
    if (looked > 0 && limits.nowMs() > deadlineMs) {
      skipped += nodes.length;
      continue;
    }
    looked += nodes.length;
    const judge = judges.get(labels) ?? createJudge(labels, before, after);
    judges.set(labels, judge);
    const { impact, changes } = judge(state);
    if (changes.length > 0) sorts.push({ sort, impact, changes });
  }
  return { sorts, skipped };
}

type Verdict = Omit<SortImpact, "sort">;

/** What becomes of the nodes with one layout. */
interface MergedSpecs {
  readonly before: SriovNetworkNodeStateSpec;
  readonly after: SriovNetworkNodeStateSpec;
  /** PFs whose wishes differ. */
  readonly touched: ReadonlyMap<string, TouchedPf>;
  /** By the sorts of the PFs and the numbers of the other parts of a status that decide. */
  readonly verdicts: Map<string, Verdict>;
}

/** For nodes with these labels. What is alike is judged once: node-facts.ts, pf-sorts.ts. */
function createJudge(labels: Labels, before: Rules, after: Rules): (state: StateFacts) => Verdict {
  const node = asNode({ name: "", labels });
  const merged = new Map<readonly InterfaceStatus[], MergedSpecs>();
  const numberOf = createNumbering();

  function specsOf(layout: readonly InterfaceStatus[]): MergedSpecs {
    const known = merged.get(layout);
    if (known !== undefined) return known;
    const [old, next] = [mergePolicies(node, layout, before).spec, mergePolicies(node, layout, after).spec];
    const specs = { before: old, after: next, touched: touchedPfs(old, next), verdicts: new Map<string, Verdict>() };
    merged.set(layout, specs);
    return specs;
  }

  return function judge({ layout, status }) {
    const specs = specsOf(layout);
    if (specs.touched.size === 0) return { impact: "none", changes: [] };
    const { interfaces = [], bridges, system } = status;
    let key = `${numberOf(bridges)} ${numberOf(system)}`;
    for (const pf of interfaces) {
      const touched = specs.touched.get(pf.pciAddress);
      if (touched !== undefined) key += `\n${sortOfPf(pf, touched.ranges)}`;
    }
    const known = specs.verdicts.get(key);
    if (known !== undefined) return known;
    const pfs = interfaces.filter(({ pciAddress }) => specs.touched.has(pciAddress));
    const verdict = compare(specs, { ...status, interfaces: pfs });
    specs.verdicts.set(key, verdict);
    return verdict;
  };
}

/** Numbers objects by identity. */
function createNumbering(): (value: object | undefined) => number {
  const numbers = new Map<object | undefined, number>();
  return (value) => {
    const number = numbers.get(value) ?? numbers.size;
    numbers.set(value, number);
    return number;
  };
}

/** `status` has the touched PFs alone: PFs do not depend on each other, and what the others need is not the change's doing. */
function compare({ before, after, touched }: MergedSpecs, status: StateFacts["status"]): Verdict {
  const owned = ownedInStatus(status);
  const pfs = [...touched.values()];
  const pending = plan({ ...before, interfaces: pfs.flatMap((pf) => pf.before ?? []) }, status, owned);
  const next = plan({ ...after, interfaces: pfs.flatMap((pf) => pf.after ?? []) }, status, owned);
  const news = newIn(next, pending);
  const changes = [...touched].map(([pciAddress, pf]): PfChange => {
    const ofPf = <Item>(items: readonly Item[]) => items.filter((item) => pfOf(item) === pciAddress);
    const reasons = ofPf(news.reasons);
    return {
      pciAddress,
      summary: describePfSteps(ofPf(news.steps), reasons),
      impact: reasons.length > 0 ? next.impact : "none",
      resources: (pf.before?.vfGroups ?? []).flatMap(({ resourceName }) => resourceName ?? []),
      problems: ofPf(news.problems).map(({ message }) => message),
    };
  });
  // What belongs to no PF.
  const general = news.problems.filter((problem) => problem.pciAddress === undefined).map(({ message }) => message);
  if (general.length > 0) changes.push({ summary: "", impact: "none", resources: [], problems: general });
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

/** Policies that came, went or differ, in each of their versions. */
function changedPolicies({ before, after }: PolicyChange): readonly SriovNetworkNodePolicy[] {
  return [...before.filter((policy) => !after.includes(policy)), ...after.filter((policy) => !before.includes(policy))];
}
