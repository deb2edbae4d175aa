// SPDX-License-Identifier: Apache-2.0
/**
 * The plan of each node, from the same plan() as the daemon's.
 * Usage: `const plans = planCluster(cluster, { namespace, diagnostics })`.
 */
import type { SriovNetworkNodeStateSpec } from "@switchyard/api";
import {
  describeProblem,
  describeStep,
  isConverged,
  ownedInStatus,
  plan,
  type Impact,
  type Step,
} from "@switchyard/plan";
import { createRules, withOwnership } from "@switchyard/policy";
import type { Diagnostics } from "../diagnostics.ts";
import { nicPolicyOf, type ClusterObjects } from "./cluster-objects.ts";
import { desiredStates } from "./desired-states.ts";

/** As it is printed. */
export interface NodePlan {
  readonly node: string;
  readonly impact: Impact;
  readonly steps: readonly (Step & { readonly text: string })[];
  readonly reasons: readonly { readonly field: string; readonly text: string }[];
  readonly converged: boolean;
}

export interface PlanSummary {
  readonly nodes: number;
  readonly converged: number;
  /** Nodes that have something to do, by what that means for their pods. */
  readonly none: number;
  readonly drain: number;
  readonly reboot: number;
  /** Of all nodes. */
  readonly steps: number;
}

export interface PlanOptions {
  /** The operator's. */
  readonly namespace: string;
  readonly diagnostics: Diagnostics;
  /** The one to plan; all unless given. */
  readonly node?: string | undefined;
}

/** Sorted by node. What a node cannot do is reported. */
export function planCluster(cluster: ClusterObjects, options: PlanOptions): readonly NodePlan[] {
  const { namespace, diagnostics, node } = options;
  const states = statesWithOwnership(cluster);
  const wanted = wantedSpecs({ ...cluster, states }, options);
  return [...wanted]
    .filter(([name]) => node === undefined || name === node)
    .sort(([a], [b]) => (a < b ? -1 : Number(a > b)))
    .map(([name, spec]) => {
      const status = states.get(name)?.status ?? {};
      const planned = plan(spec, status, ownedInStatus(status));
      for (const problem of planned.problems) {
        diagnostics.report(`SriovNetworkNodeState/${namespace}/${name}: ${describeProblem(problem)}`);
      }
      return {
        node: name,
        impact: planned.impact,
        steps: planned.steps.map((step) => ({ ...step, text: describeStep(step) })),
        reasons: planned.reasons.map(({ field, text }) => ({ field, text })),
        converged: isConverged(planned),
      };
    });
}

export function summarize(plans: readonly NodePlan[]): PlanSummary {
  const busy = plans.filter(({ steps }) => steps.length > 0);
  const ofImpact = (impact: Impact): number => busy.filter((one) => one.impact === impact).length;
  return {
    nodes: plans.length,
    converged: plans.filter(({ converged }) => converged).length,
    none: ofImpact("none"),
    drain: ofImpact("drain"),
    reboot: ofImpact("reboot"),
    steps: plans.reduce((sum, { steps }) => sum + steps.length, 0),
  };
}

/** Of a cluster that still has the Go operator's daemons, ours will find that their PFs are its own. */
function statesWithOwnership({ states }: Pick<ClusterObjects, "states">): ClusterObjects["states"] {
  return new Map([...states].map(([name, state]) => [name, { ...state, status: withOwnership(state) }]));
}

/** By node. Without policies in the input, what the nodes have been told already. */
function wantedSpecs(cluster: ClusterObjects, options: PlanOptions): ReadonlyMap<string, SriovNetworkNodeStateSpec> {
  const { policies, pools, operatorConfig, nodes, states } = cluster;
  if (policies.length === 0) return new Map([...states].map(([name, { spec = {} }]) => [name, spec]));
  const chosen = nodes.filter(({ metadata }) => options.node === undefined || metadata.name === options.node);
  const rules = createRules({ policies, pools, operatorConfig, nics: nicPolicyOf(cluster) });
  const desired = desiredStates({ nodes: chosen, states }, { ...options, rules });
  reportMissing(cluster, options);
  return new Map(desired.map(({ node, spec }) => [node.metadata.name, spec]));
}

/** Policies select nodes by labels, so that without the Node nothing can be said of its state. */
function reportMissing({ nodes, states }: ClusterObjects, { namespace, diagnostics, node }: PlanOptions): void {
  const known = new Set(nodes.map(({ metadata }) => metadata.name));
  for (const name of states.keys()) {
    if (known.has(name) || (node !== undefined && name !== node)) continue;
    diagnostics.report(
      `SriovNetworkNodeState/${namespace}/${name}: the input has policies, but not the Node ${name} whose labels they select by`,
    );
  }
}
