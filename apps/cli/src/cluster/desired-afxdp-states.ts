// SPDX-License-Identifier: Apache-2.0
/**
 * desiredAfxdpStates computes the specs of the AfxdpNetworkNodeStates, by the functions that the operator calls.
 */
import type { AfxdpNetworkNodeStateSpec, AfxdpNetworkNodeStateStatus, Node } from "@switchyard/api";
import {
  afxdpDevices,
  afxdpNodeStateSpec,
  createAfxdpRules,
  isInNodeSet,
  mergeAfxdpPolicies,
  sriovUse,
  toPfAddresses,
} from "@switchyard/policy";
import type { Diagnostics } from "../terminal.ts";
import type { ClusterObjects } from "./cluster-objects.ts";
import { byName, type DesiredState } from "./desired-states.ts";

export interface DesiredAfxdpState {
  readonly node: Node;
  readonly spec: AfxdpNetworkNodeStateSpec;
  /** What the node has reported; undefined if it has not. */
  readonly status: AfxdpNetworkNodeStateStatus | undefined;
}

export interface DesiredAfxdpOptions {
  /** Result of desiredStates, whose devices are not offered for AF_XDP. */
  readonly desired: readonly DesiredState[];
  readonly namespace: string;
  readonly diagnostics: Diagnostics;
}

/**
 * Returns one state for each node of the node set, sorted by name, and reports problems of policies. Without policies and
 * AfxdpOperatorConfig, AF_XDP is not used, and the result is empty.
 */
export function desiredAfxdpStates(
  { nodes, states, afxdp }: Pick<ClusterObjects, "nodes" | "states" | "afxdp">,
  { desired, namespace, diagnostics }: DesiredAfxdpOptions,
): readonly DesiredAfxdpState[] {
  const { policies, operatorConfig } = afxdp;
  if (policies.length === 0 && operatorConfig === undefined) return [];
  const rules = createAfxdpRules({ policies, operatorConfig });
  const sriovSpecs = new Map(desired.map(({ node, spec }) => [node.metadata.name, spec]));
  const members = nodes.filter((node) => isInNodeSet(node, rules)).sort(byName);
  return members.map((node) => {
    const { name } = node.metadata;
    const state = afxdp.states.get(name);
    const pfs = toPfAddresses(states.get(name)?.status?.interfaces);
    const devices = afxdpDevices(state?.status, sriovUse({ spec: sriovSpecs.get(name), pfs }), state?.spec);
    const merged = mergeAfxdpPolicies(node, devices, rules);
    for (const { severity, policyName, field, message } of merged.problems) {
      const line = `AfxdpNetworkNodePolicy/${namespace}/${policyName}: node ${name}: ${field}: ${message}`;
      if (severity === "error") diagnostics.report(line);
      else diagnostics.note(line);
    }
    return { node, spec: afxdpNodeStateSpec(merged, state), status: state?.status };
  });
}
