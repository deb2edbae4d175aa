// SPDX-License-Identifier: Apache-2.0
/**
 * impactOf computes what a change of policies does to the nodes. It merges the policies as the operator does and plans as
 * the config daemons do, before and after the change, and returns the difference.
 */
import type { InterfaceStatus, SriovNetworkNodePolicy, SriovNetworkNodeStateSpec } from "@switchyard/api";
import {
  ownedInStatus,
  plan,
  vfsToDrain,
  withExpectedFirmware,
  type Impact,
  type Plan,
  type Step,
} from "@switchyard/plan";
import {
  createRules,
  firmwarePolicyOf,
  mergePolicies,
  nodeSetLabels,
  type FirmwarePolicy,
  type Labels,
  type Rules,
} from "@switchyard/policy";
import type { AdmissionCache } from "../policy-context.ts";
import { changedPfs, movesOf, type ChangedPf, type VfIds, type VfMove } from "./changed-pfs.ts";
import type { ClusterView } from "../cluster-view.ts";
import { describePfSteps } from "./describe-pf-steps.ts";
import type { ReducedNodeState } from "../node-for-review.ts";
import { isDiscovered, selects, type DiscoveredGroup } from "../node-groups.ts";
import type { PfFingerprint } from "./pf-fingerprints.ts";
import { asNode } from "../policy-targets.ts";

/** The policies of the cluster before and after the change. */
export interface PolicyChange {
  readonly before: readonly SriovNetworkNodePolicy[];
  readonly after: readonly SriovNetworkNodePolicy[];
}

/** What happens to one PF, or to the node as a whole. */
export interface PfChange {
  /** Undefined for what belongs to no PF. */
  readonly pciAddress?: string | undefined;
  /** Short description, such as "8 -> 16 VFs". */
  readonly summary: string;
  readonly impact: Impact;
  /** Resources to which the PF's VFs belonged before the change. */
  readonly resources: readonly string[];
  /** The VFs of the PF that the change takes from pods or interrupts, with those that get the same configuration. Absent if they are all. */
  readonly vfs?: readonly VfIds[];
  /** VFs that get another resource and are not drained: a pod that has such a VF keeps it, and nobody else gets it. */
  readonly moves: readonly VfMove[];
  /** Parts of the change that cannot be applied, such as "9 VFs requested, but 0000:01:00.0 supports 7". */
  readonly problems: readonly string[];
}

/** What happens to each node of a group. */
export interface GroupImpact {
  readonly group: DiscoveredGroup;
  readonly impact: Impact;
  readonly changes: readonly PfChange[];
}

export interface ClusterImpact {
  /** The groups of nodes for which something changes. */
  readonly groups: readonly GroupImpact[];
  /** The number of nodes that were not evaluated because the time was up. */
  readonly skipped: number;
}

export interface ImpactOptions {
  readonly nowMs: () => number;
  /** After this time no further group of nodes is evaluated. */
  readonly budgetMs: number;
  readonly cache: Pick<AdmissionCache, "groupNodes" | "pfFingerprint">;
}

export function impactOf(change: PolicyChange, view: ClusterView, options: ImpactOptions): ClusterImpact {
  const { nowMs, budgetMs, cache } = options;
  const deadlineMs = nowMs() + budgetMs;
  const { operatorConfig, nics } = view;
  const before = createRules({ policies: change.before, pools: [], operatorConfig, nics });
  const after = createRules({ policies: change.after, pools: [], operatorConfig, nics });
  const firmware = firmwarePolicyOf(operatorConfig);
  const concerned = changedPolicies(change).map(({ spec }) => selects(spec.nodeSelector));
  const daemonLabels = nodeSetLabels(operatorConfig);
  const hasDaemon = selects(daemonLabels);
  const selectors = [...change.before, ...change.after].map(({ spec }) => spec.nodeSelector);

  const groups: GroupImpact[] = [];
  const evaluators = new Map<Labels, (state: ReducedNodeState) => NodeImpact>();
  let evaluated = 0;
  let skipped = 0;
  for (const group of cache.groupNodes(view.nodes, [...selectors, daemonLabels]).filter(isDiscovered)) {
    const { labels, state, nodes } = group;
    if (!hasDaemon(group) || !concerned.some((isSelected) => isSelected(group))) continue;
    // At least one group is evaluated, however slow the machine is.
    if (evaluated > 0 && nowMs() > deadlineMs) {
      skipped += nodes.length;
      continue;
    }
    evaluated += nodes.length;
    const evaluate =
      evaluators.get(labels) ?? createEvaluator(labels, { before, after, firmware }, cache.pfFingerprint);
    evaluators.set(labels, evaluate);
    const { impact, changes } = evaluate(state);
    if (changes.length > 0) groups.push({ group, impact, changes });
  }
  return { groups, skipped };
}

type NodeImpact = Omit<GroupImpact, "group">;

/** The specs of nodes with the same layout, before and after the change. */
interface MergedSpecs {
  readonly before: SriovNetworkNodeStateSpec;
  readonly after: SriovNetworkNodeStateSpec;
  readonly changed: ReadonlyMap<string, ChangedPf>;
  /** Keyed by the fingerprints of the changed PFs and the numbers of the other parts of the status that matter. */
  readonly impacts: Map<string, NodeImpact>;
}

/** Returns a function that evaluates nodes with these labels. Equal states are evaluated once: node-for-review.ts, pf-fingerprints.ts. */
function createEvaluator(
  labels: Labels,
  { firmware, ...rules }: { readonly before: Rules; readonly after: Rules; readonly firmware: FirmwarePolicy },
  pfFingerprint: PfFingerprint,
): (state: ReducedNodeState) => NodeImpact {
  const node = asNode({ name: "", labels });
  const merged = new Map<readonly InterfaceStatus[], MergedSpecs>();
  const numberOf = createNumbering();

  function specsOf(layout: readonly InterfaceStatus[]): MergedSpecs {
    const known = merged.get(layout);
    if (known !== undefined) return known;
    const before = mergePolicies(node, layout, rules.before).spec;
    const after = mergePolicies(node, layout, rules.after).spec;
    const specs = { before, after, changed: changedPfs(before, after), impacts: new Map<string, NodeImpact>() };
    merged.set(layout, specs);
    return specs;
  }

  return ({ layout, status }) => {
    const specs = specsOf(layout);
    if (specs.changed.size === 0) return { impact: "none", changes: [] };
    const { interfaces = [], bridges, system } = status;
    let key = `${numberOf(bridges)} ${numberOf(system)}`;
    for (const pf of interfaces) {
      const changed = specs.changed.get(pf.pciAddress);
      if (changed !== undefined) key += `\n${pfFingerprint(pf, changed.ranges)}`;
    }
    const known = specs.impacts.get(key);
    if (known !== undefined) return known;
    const pfs = interfaces.filter(({ pciAddress }) => specs.changed.has(pciAddress));
    const impact = comparePlans(specs, { ...status, interfaces: withExpectedFirmware(pfs, firmware) });
    specs.impacts.set(key, impact);
    return impact;
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

/** `status` contains only the changed PFs: PFs do not depend on each other, and steps of other PFs do not come from the change. */
function comparePlans({ before, after, changed }: MergedSpecs, status: ReducedNodeState["status"]): NodeImpact {
  const owned = ownedInStatus(status);
  const pfs = [...changed.values()];
  const pending = plan({ ...before, interfaces: pfs.flatMap((pf) => pf.before ?? []) }, status, owned);
  const next = plan({ ...after, interfaces: pfs.flatMap((pf) => pf.after ?? []) }, status, owned);
  const added = addedIn(next, pending);
  const vfs = vfsToDrain(next, status);
  const changes = [...changed].map(([pciAddress, pf]): PfChange => {
    const ofPf = <Item>(items: readonly Item[]) => items.filter((item) => pfOf(item) === pciAddress);
    const reasons = ofPf(added.reasons);
    const drained = withSameRange(vfs?.get(pciAddress) ?? "all", pf.ranges);
    return {
      pciAddress,
      summary: describePfSteps(ofPf(added.steps), reasons),
      impact: reasons.length > 0 ? next.impact : "none",
      resources: (pf.before?.vfGroups ?? []).flatMap(({ resourceName }) => resourceName ?? []),
      ...(drained !== "all" && { vfs: drained }),
      moves: reasons.length > 0 ? [] : movesOf(pf),
      problems: ofPf(added.problems).map(({ message }) => message),
    };
  });
  // Problems that belong to no PF.
  const general = added.problems.filter((problem) => problem.pciAddress === undefined).map(({ message }) => message);
  if (general.length > 0) changes.push({ summary: "", impact: "none", resources: [], moves: [], problems: general });
  return { impact: added.reasons.length > 0 ? next.impact : "none", changes };
}

/** Equal fingerprints say only how many VFs of a range are in which state, so all VFs of the range count. */
function withSameRange(vfs: ReadonlySet<number> | "all", ranges: readonly VfIds[]): readonly VfIds[] | "all" {
  if (vfs === "all") return vfs;
  return ranges.filter(({ first, last }) => [...vfs].some((id) => first <= id && id <= last));
}

/** The steps, reasons and problems that the change adds. Those of the pending plan exist without it. */
function addedIn(next: Plan, pending: Plan): Pick<Plan, "steps" | "reasons" | "problems"> {
  if (pending.steps.length === 0 && pending.problems.length === 0) return next;
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

/** The policies that are added, removed or changed; of changed ones both versions. */
function changedPolicies({ before, after }: PolicyChange): readonly SriovNetworkNodePolicy[] {
  return [...before.filter((policy) => !after.includes(policy)), ...after.filter((policy) => !before.includes(policy))];
}
