// SPDX-License-Identifier: Apache-2.0
/** planAfxdpCluster plans the AF_XDP devices of each node with the planAfxdp() of the config daemon. */
import type { AfxdpNetworkNodeStateSpec, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { describeProblem, planAfxdp, type AfxdpPlan } from "@switchyard/plan";
import { sriovUse, toPfAddresses } from "@switchyard/policy";
import type { Diagnostics } from "../terminal.ts";
import type { ClusterObjects } from "./cluster-objects.ts";
import { desiredAfxdpStates } from "./desired-afxdp-states.ts";

export interface PlanAfxdpOptions {
  /** Specs of the SR-IOV node states by node. Their PFs are not offered for AF_XDP. */
  readonly wanted: ReadonlyMap<string, SriovNetworkNodeStateSpec>;
  readonly namespace: string;
  readonly diagnostics: Diagnostics;
  /** Plans only this node; all nodes unless given. */
  readonly node?: string | undefined;
}

/** Returns the plans by node, for the nodes that have reported devices. Parts of a spec that cannot be applied are reported. */
export function planAfxdpCluster(cluster: ClusterObjects, options: PlanAfxdpOptions): ReadonlyMap<string, AfxdpPlan> {
  const { wanted, namespace, diagnostics, node } = options;
  const plans = new Map<string, AfxdpPlan>();
  for (const [name, spec] of wantedSpecs(cluster, options)) {
    const status = cluster.afxdp.states.get(name)?.status;
    if (status === undefined || (node !== undefined && node !== name)) continue;
    const pfs = toPfAddresses(cluster.states.get(name)?.status?.interfaces);
    const planned = planAfxdp(spec, status, sriovUse({ spec: wanted.get(name), pfs }));
    for (const problem of planned.problems) {
      diagnostics.report(`AfxdpNetworkNodeState/${namespace}/${name}: ${describeProblem(problem)}`);
    }
    plans.set(name, planned);
  }
  return plans;
}

/** Specs by node name. Without policies, a node state whose Node is not in the input or not in the node set keeps its spec. */
function wantedSpecs(
  cluster: ClusterObjects,
  { wanted, node, ...options }: PlanAfxdpOptions,
): ReadonlyMap<string, AfxdpNetworkNodeStateSpec> {
  const { policies, states } = cluster.afxdp;
  const stored = policies.length > 0 ? [] : [...states].map(([name, { spec = {} }]) => [name, spec] as const);
  const nodes = cluster.nodes.filter(({ metadata }) => node === undefined || metadata.name === node);
  const desired = nodes.flatMap((each) => {
    const spec = wanted.get(each.metadata.name);
    return spec === undefined ? [] : [{ node: each, spec }];
  });
  const specs = desiredAfxdpStates({ ...cluster, nodes }, { ...options, desired });
  return new Map([...stored, ...specs.map(({ node: { metadata }, spec }) => [metadata.name, spec] as const)]);
}
