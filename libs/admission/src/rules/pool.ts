// SPDX-License-Identifier: Apache-2.0
/**
 * Rules about SriovNetworkPoolConfig (sriov-operator.md E.2). Upstream checks each pool by itself. There, a second pool
 * on a node empties the node's RDMA mode and ends its drains (sriov-operator.md M-44). "0%" is refused although 0,
 * which blocks all drains as well, is not (sriov-operator.md M-33).
 */
import type { SriovNetworkPoolConfig } from "@switchyard/api";
import { rdmaModeDifference } from "@switchyard/plan";
import {
  createRules,
  describeEmptySelector,
  isEmptyLabelSelector,
  isHardwareOffloadPool,
  isInNodeSet,
  noClaims,
  poolOverlaps,
  rdmaModeOf,
} from "@switchyard/policy";
import type { ClusterView } from "../cluster-view.ts";
import { listNames, refuse, warn, type ReviewFinding } from "../finding.ts";
import { asNode } from "../policy-targets.ts";
import { offloadSelection } from "./ovn-offload.ts";

export function checkPool(
  pool: SriovNetworkPoolConfig,
  { namespace, lacksClaims }: ClusterView,
): readonly ReviewFinding[] {
  const { nodeSelector, maxUnavailable } = pool.spec ?? {};
  const findings: ReviewFinding[] = createRules({ policies: [], pools: [pool] }).poolProblems.map(
    ({ field, message }) => refuse(field, message),
  );
  // Clients send an empty selector if none is set (sriov-operator.md M-40).
  const { matchLabels, matchExpressions } = nodeSelector ?? {};
  const selects = matchLabels !== undefined || matchExpressions !== undefined;
  if (isHardwareOffloadPool(pool) && (selects || maxUnavailable !== undefined)) {
    const message =
      "cannot be combined with spec.nodeSelector or spec.maxUnavailable: the pool has the nodes of the MachineConfigPool";
    findings.push(refuse("spec.ovsHardwareOffloadConfig", message));
  }
  if (pool.spec?.allocation === "dra" && lacksClaims === true) findings.push(refuse("spec.allocation", noClaims));
  if (maxUnavailable === 0) findings.push(warn("spec.maxUnavailable", "0 blocks all drains until the value is raised"));
  if (pool.metadata.namespace !== namespace) {
    findings.push(
      warn("metadata.namespace", `this pool has no effect: the operator uses pools of namespace ${namespace} only`),
    );
  }
  return findings;
}

/** The API server removes labels without a value, so an empty selector may be meant as one that selects few nodes. */
export function checkPoolSelector(pool: SriovNetworkPoolConfig, view: ClusterView): readonly ReviewFinding[] {
  if (isHardwareOffloadPool(pool) || pool.metadata.namespace !== view.namespace) return [];
  if (!isEmptyLabelSelector(pool.spec?.nodeSelector)) return [];
  const rules = createRules({ policies: [], pools: [], operatorConfig: view.operatorConfig });
  const nodeCount = view.nodes.filter((node) => isInNodeSet(asNode(node), rules)).length;
  if (view.nodes.length > 0 && nodeCount === 0) return [];
  return [warn("", describeEmptySelector(view.nodes.length === 0 ? undefined : nodeCount))];
}

/** A machine with OVN on its SmartNIC boots without the Open vSwitch whose offload the pool would configure. */
export function checkPoolOffload(pool: SriovNetworkPoolConfig, view: ClusterView): readonly ReviewFinding[] {
  if (!isHardwareOffloadPool(pool) || pool.metadata.namespace !== view.namespace) return [];
  const selection = offloadSelection(view.operatorConfig?.spec?.ovnHardwareOffload, view);
  const machineConfigPool = pool.spec?.ovsHardwareOffloadConfig?.name ?? "";
  if (selection?.pools.some(({ name }) => name === machineConfigPool) !== true) return [];
  const message =
    `MachineConfigPool ${machineConfigPool} is selected by spec.ovnHardwareOffload of the SriovOperatorConfig, so its machines ` +
    "run without Open vSwitch: use one of both";
  return [refuse("spec.ovsHardwareOffloadConfig.name", message)];
}

export function checkPoolOverlap(pool: SriovNetworkPoolConfig, view: ClusterView): readonly ReviewFinding[] {
  const { name, namespace } = pool.metadata;
  if (namespace !== view.namespace) return [];
  const others = view.pools.filter(({ metadata }) => metadata.name !== name);
  return others.flatMap((other) => {
    const rules = createRules({ policies: [], pools: [pool, other] });
    const nodes = view.nodes.filter((node) => poolOverlaps(asNode(node), rules).length > 0);
    if (nodes.length === 0) return [];
    const names = nodes.map((node) => node.name);
    const message = `pool ${other.metadata.name} also selects ${listNames(names)}: a node can be in one pool only`;
    return [
      refuse("spec.nodeSelector", message, { code: `pool-overlap ${other.metadata.name}`, nodes: names, amount: 0 }),
    ];
  });
}

/**
 * checkRdmaMode compares spec.rdmaMode of a pool with the mode of its nodes. It warns about nodes on
 * which the mode must change, because a running kernel changes it only without pods.
 */
export function checkRdmaMode(
  pool: SriovNetworkPoolConfig,
  { namespace, nodes }: ClusterView,
): readonly ReviewFinding[] {
  if (!pool.spec?.rdmaMode || pool.metadata.namespace !== namespace) return [];
  const rules = createRules({ policies: [], pools: [pool] });
  const byMessage = new Map<string, string[]>();
  for (const { name, labels, state } of nodes) {
    if (state === undefined || state.layout.length === 0) continue; // no report yet
    const rdmaMode = rdmaModeOf(asNode({ name, labels }), rules);
    const difference = rdmaModeDifference(rdmaMode === undefined ? {} : { system: { rdmaMode } }, state.status);
    if (difference === undefined) continue;
    const names = byMessage.get(difference) ?? [];
    names.push(name);
    byMessage.set(difference, names);
  }
  const count = [...byMessage.values()].flat().length;
  const isUnlimited = count > 1 && pool.spec.maxUnavailable === undefined;
  return [
    ...[...byMessage].map(([message, names]) => warn("spec.rdmaMode", `${listNames(names)}: ${message}`)),
    ...(isUnlimited ? [warn("spec.maxUnavailable", `is not set: these ${count} nodes may be drained at once`)] : []),
  ];
}
