// SPDX-License-Identifier: Apache-2.0
/** desiredStates computes the specs of the SriovNetworkNodeStates, by the functions that the operator calls. */
import type { Node, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { isInNodeSet, mergePolicies, nodeStateSpec, poolOverlaps, type Rules } from "@switchyard/policy";
import type { Diagnostics } from "../terminal.ts";
import type { ClusterObjects } from "./cluster-objects.ts";

export interface DesiredState {
  readonly node: Node;
  readonly spec: SriovNetworkNodeStateSpec;
}

/** Returns one state for each node of the node set, sorted by name. Problems of policies and pools are reported. */
export function desiredStates(
  { nodes, states }: Pick<ClusterObjects, "nodes" | "states">,
  { rules, namespace, diagnostics }: { rules: Rules; namespace: string; diagnostics: Diagnostics },
): readonly DesiredState[] {
  const members = nodes.filter((node) => isInNodeSet(node, rules)).sort(byName);
  const poolLabel = (name: string): string => `SriovNetworkPoolConfig/${namespace}/${name}`;
  for (const { poolName, field, message } of rules.poolProblems) {
    diagnostics.report(`${poolLabel(poolName)}: ${field}: ${message}`);
  }
  return members.map((node) => {
    const state = states.get(node.metadata.name);
    const merged = mergePolicies(node, state?.status?.interfaces ?? [], rules);
    for (const { severity, policyName, field, message } of merged.problems) {
      const line = `SriovNetworkNodePolicy/${namespace}/${policyName}: node ${node.metadata.name}: ${field}: ${message}`;
      if (severity === "error") diagnostics.report(line);
      else diagnostics.note(line);
    }
    for (const { poolName, field, message } of poolOverlaps(node, rules)) {
      diagnostics.note(`${poolLabel(poolName)}: ${field}: ${message}`);
    }
    return { node, spec: nodeStateSpec(merged, state) };
  });
}

/** The order of nodes. */
export function byName(a: Node, b: Node): number {
  return a.metadata.name < b.metadata.name ? -1 : Number(a.metadata.name > b.metadata.name);
}
