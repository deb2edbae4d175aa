// SPDX-License-Identifier: Apache-2.0
/**
 * checkTargets checks whether the policy matches nodes and NICs (sriov-operator.md E.3). Upstream refuses a policy whose
 * nodes are not discovered yet, so nodes and policies cannot be applied together from one repository. Here such a policy is
 * admitted with a warning. A policy is refused if all of its nodes are discovered and none of their NICs match.
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import {
  adviceOnExcludedNics,
  describeBroadSelector,
  describeEmptySelector,
  isEmptyNicSelector,
  isEmptySelector,
} from "@switchyard/policy";
import { listNames, refuse, warn, type ReviewFinding } from "../finding.ts";
import { countNodes, namesOf, type DiscoveredGroup } from "../node-groups.ts";
import type { PolicyContext } from "../policy-context.ts";

/** The API server removes labels without a value, so an empty selector may be meant as one that selects few nodes. */
export function checkNodeSelector(
  { spec, metadata }: SriovNetworkNodePolicy,
  context: PolicyContext,
): readonly ReviewFinding[] {
  const { view, targets } = context;
  if (!isEmptySelector(spec.nodeSelector) || metadata.namespace !== view.namespace) return [];
  const nodeCount = view.nodes.length === 0 ? undefined : countNodes(targets.selected) - countNodes(targets.outside);
  return nodeCount === 0 ? [] : [warn("", describeEmptySelector(nodeCount))];
}

/** A list of pfNames or rootDevices without a value is removed as well, and the vendor alone selects more ports. */
export function checkBroadSelector(
  { spec }: SriovNetworkNodePolicy,
  { targets }: PolicyContext,
): readonly ReviewFinding[] {
  const portCount = targets.matches.reduce((sum, { groups, pfs }) => sum + countNodes(groups) * pfs.length, 0);
  const message = describeBroadSelector(spec.nicSelector, portCount);
  return message === undefined ? [] : [warn("", message)];
}

export function checkTargets(
  { spec }: SriovNetworkNodePolicy,
  { view, targets }: PolicyContext,
): readonly ReviewFinding[] {
  const { selected, outside, undiscovered, unmatched, matches } = targets;
  if (view.nodes.length === 0) return []; // no cluster is known, or the policy is in a namespace that the operator ignores
  const nodeSelector = "spec.nodeSelector";
  if (selected.length === 0) return [warn(nodeSelector, "matches no node yet")];
  if (outside.length === selected.length) {
    const names = listNames(namesOf(selected));
    return [
      warn(
        nodeSelector,
        `matches only nodes without a config daemon (${names}): check spec.configDaemonNodeSelector of SriovOperatorConfig/default`,
      ),
    ];
  }
  if (undiscovered.length > 0) {
    const names = listNames(namesOf(undiscovered));
    return [
      warn(
        nodeSelector,
        `the NICs of ${names} are not discovered yet: the policy's status will show whether they match`,
      ),
    ];
  }
  if (matches.length > 0 || unmatched.length === 0 || isEmptyNicSelector(spec.nicSelector)) return [];
  const names = namesOf(unmatched);
  const where = names.length === 1 ? names.join() : `any of ${names.length} nodes`;
  const layoutNics = unmatched.flatMap(({ state }) => state.layout);
  const advice = adviceOnExcludedNics(spec.nicSelector, layoutNics, view.nics);
  const message = `matches no NIC on ${where}; available NICs: ${describeNics(unmatched)}`;
  return [refuse("spec.nicSelector", advice === undefined ? message : `${message}; ${advice}`)];
}

/** "ens1f0 (0000:3b:00.0, 8086:158b), …": at most five NICs by name. */
function describeNics(groups: readonly DiscoveredGroup[]): string {
  const nics = new Set<string>();
  for (const layout of new Set(groups.map(({ state }) => state.layout))) {
    for (const { name = "unnamed", pciAddress, vendor = "?", deviceID = "?" } of layout) {
      nics.add(`${name} (${pciAddress}, ${vendor}:${deviceID})`);
    }
  }
  return listNames([...nics], 4);
}
