// SPDX-License-Identifier: Apache-2.0
/** planCluster plans each node with the plan() and planAfxdp() of the config daemon. */
import { drainRequests, type DrainNeed, type SriovNetworkNodeStateSpec } from "@switchyard/api";
import {
  describeAfxdpStep,
  describeMove,
  describeProblem,
  describeStep,
  drainNeedOf,
  isConverged,
  movedVfs,
  ownedInStatus,
  plan,
  vfsToDrain,
  withExpectedFirmware,
  type AfxdpStep,
  type Impact,
  type MovedVfs,
  type Step,
} from "@switchyard/plan";
import { createRules, firmwarePolicyOf, withOwnership, type VfSet } from "@switchyard/policy";
import type { Diagnostics } from "../terminal.ts";
import { nicPolicyOf, type ClusterObjects } from "./cluster-objects.ts";
import { desiredStates } from "./desired-states.ts";
import { planAfxdpCluster } from "./plan-afxdp-cluster.ts";

/** As it is printed. */
export interface PrintedNodePlan {
  readonly node: string;
  readonly impact: Impact;
  /** Those of AF_XDP devices come last. */
  readonly steps: readonly ((Step | AfxdpStep) & { readonly text: string })[];
  /** PCI addresses of PFs with further steps, which are known after the card was reset or the node rebooted. Absent if there are none. */
  readonly waiting?: readonly string[];
  /** VFs that get another resource when their pods end. Absent if there are none. */
  readonly moves?: readonly (MovedVfs & { readonly text: string })[];
  readonly reasons: readonly { readonly field: string; readonly text: string }[];
  /**
   * VFs whose pods leave, while the node stays schedulable: "0000:3b:00.0" are all of a PF, "0000:3b:00.0#2-5" four. Absent if all pods
   * that use VFs leave, or none.
   */
  readonly drainedVfs?: string;
  /** What happens to pods. Absent if the plan disrupts none, and if the pods are not known. */
  readonly pods?: {
    /** Pods that leave the node before it changes. */
    readonly evicted: readonly PodName[];
    /** Pods that may lose their VFs while they run: they cannot be kept off the node, or drains are disabled. */
    readonly disrupted: readonly PodName[];
  };
  readonly converged: boolean;
}

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** A plan, and what determines the pods that it evicts. */
export interface PlannedNode {
  readonly plan: PrintedNodePlan;
  /** The spec that is planned. */
  readonly spec: SriovNetworkNodeStateSpec;
  /** The drain that the config daemon requests; undefined if it requests none. */
  readonly drain: DrainNeed | undefined;
  /** The VFs that the drain is about; undefined if it is about all of the node. */
  readonly vfs: VfSet | undefined;
}

export interface PlanSummary {
  readonly nodes: number;
  readonly converged: number;
  /** Nodes with steps or a reboot, by the impact on their pods. */
  readonly none: number;
  readonly drain: number;
  readonly reboot: number;
  /** The number of steps of all nodes. */
  readonly steps: number;
  /** Absent if the pods are not known. */
  readonly evictedPods?: number;
}

export interface PlanOptions {
  /** The namespace of the operator. */
  readonly namespace: string;
  readonly diagnostics: Diagnostics;
  /** Why nodes also reboot for the OVN offload, by node. */
  readonly reboots: ReadonlyMap<string, string>;
  /** Plans only this node; all nodes unless given. */
  readonly node?: string | undefined;
}

/** Sorted by node name. Parts of a spec that a node cannot apply are reported. */
export function planCluster(cluster: ClusterObjects, options: PlanOptions): readonly PlannedNode[] {
  const { namespace, diagnostics, reboots, node } = options;
  const states = statesWithOwnership(cluster);
  const wanted = wantedSpecs({ ...cluster, states }, options);
  const firmware = firmwarePolicyOf(cluster.operatorConfig);
  const afxdpPlans = planAfxdpCluster(cluster, { wanted, namespace, diagnostics, node });
  return [...new Set([...wanted.keys(), ...afxdpPlans.keys()])]
    .filter((name) => node === undefined || name === node)
    .sort()
    .map((name) => {
      const spec = wanted.get(name) ?? {};
      const afxdp = afxdpPlans.get(name) ?? { steps: [], impact: "none", reasons: [], problems: [] };
      const reported = states.get(name)?.status ?? {};
      const status = { ...reported, interfaces: withExpectedFirmware(reported.interfaces ?? [], firmware) };
      const planned = plan(spec, status, ownedInStatus(status));
      for (const problem of planned.problems) {
        diagnostics.report(`SriovNetworkNodeState/${namespace}/${name}: ${describeProblem(problem)}`);
      }
      const reboot = reboots.get(name);
      const rebootReasons = reboot === undefined ? [] : [{ field: "spec.ovnHardwareOffload", text: reboot }];
      const moves = planned.impact === "reboot" ? [] : movedVfs(spec, status, vfsToDrain(planned, status));
      const nodePlan: PrintedNodePlan = {
        node: name,
        impact: reboot !== undefined ? "reboot" : planned.impact === "none" ? afxdp.impact : planned.impact,
        steps: [
          ...planned.steps.map((step) => ({ ...step, text: describeStep(step) })),
          ...afxdp.steps.map((step) => ({ ...step, text: describeAfxdpStep(step) })),
        ],
        ...(planned.waiting !== undefined && planned.steps.length > 0 && { waiting: planned.waiting }),
        ...(moves.length > 0 && { moves: moves.map((move) => ({ ...move, text: describeMove(move) })) }),
        reasons: [
          ...[...planned.reasons, ...afxdp.reasons].map(({ field, text }) => ({ field, text })),
          ...rebootReasons,
        ],
        converged: isConverged(planned) && isConverged(afxdp) && reboot === undefined,
      };
      const drain = reboot === undefined ? drainFor(planned.impact, afxdp.impact, cluster) : drainRequests.reboot;
      const isDeviceDrain = drain === drainRequests.drain && afxdp.impact === "none";
      return { plan: nodePlan, spec, drain, vfs: isDeviceDrain ? vfsToDrain(planned, status) : undefined };
    });
}

/** As the config daemon requests it. Each of the two configurations disables the drains for its own devices. */
function drainFor(sriov: Impact, ofAfxdp: Impact, { operatorConfig, afxdp }: ClusterObjects): DrainNeed | undefined {
  const own = operatorConfig?.spec?.disableDrain === true ? undefined : drainNeedOf(sriov);
  return own ?? (afxdp.operatorConfig?.spec?.disableDrain === true ? undefined : drainNeedOf(ofAfxdp));
}

export function summarize(plans: readonly PrintedNodePlan[]): PlanSummary {
  const busy = plans.filter(({ steps, impact }) => steps.length > 0 || impact === "reboot");
  const ofImpact = (impact: Impact): number => busy.filter((one) => one.impact === impact).length;
  const disrupting = busy.filter(({ impact }) => impact !== "none");
  return {
    nodes: plans.length,
    converged: plans.filter(({ converged }) => converged).length,
    none: ofImpact("none"),
    drain: ofImpact("drain"),
    reboot: ofImpact("reboot"),
    steps: plans.reduce((sum, { steps }) => sum + steps.length, 0),
    ...(disrupting.some(({ pods }) => pods !== undefined) && {
      evictedPods: disrupting.reduce((sum, { pods }) => sum + (pods?.evicted.length ?? 0), 0),
    }),
  };
}

/** If the daemons of the Go operator still run, Switchyard's daemons will take over the PFs that those have configured. */
function statesWithOwnership({ states }: Pick<ClusterObjects, "states">): ClusterObjects["states"] {
  return new Map([...states].map(([name, state]) => [name, { ...state, status: withOwnership(state) }]));
}

/**
 * Specs by node name. A node is planned as the operator would merge the policies, also if there are none: its PFs are then
 * reset. Without policies, a node state whose Node is not in the input or not in the node set keeps its spec.
 */
function wantedSpecs(cluster: ClusterObjects, options: PlanOptions): ReadonlyMap<string, SriovNetworkNodeStateSpec> {
  const { policies, pools, operatorConfig, nodes, states } = cluster;
  const stored = policies.length > 0 ? [] : [...states].map(([name, { spec = {} }]) => [name, spec] as const);
  const chosen = nodes.filter(({ metadata }) => options.node === undefined || metadata.name === options.node);
  const rules = createRules({ policies, pools, operatorConfig, nics: nicPolicyOf(cluster) });
  const desired = desiredStates({ nodes: chosen, states }, { ...options, rules });
  if (policies.length > 0) reportMissingNodes(cluster, options);
  return new Map([...stored, ...desired.map(({ node, spec }) => [node.metadata.name, spec] as const)]);
}

/** Policies select nodes by labels, so a node state cannot be planned without its Node. */
function reportMissingNodes({ nodes, states }: ClusterObjects, { namespace, diagnostics, node }: PlanOptions): void {
  const known = new Set(nodes.map(({ metadata }) => metadata.name));
  for (const name of states.keys()) {
    if (known.has(name) || (node !== undefined && name !== node)) continue;
    diagnostics.report(
      `SriovNetworkNodeState/${namespace}/${name}: the input has policies but lacks the Node ${name}, whose labels they select`,
    );
  }
}
