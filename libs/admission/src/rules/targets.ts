// SPDX-License-Identifier: Apache-2.0
/**
 * checkTargets checks whether the policy matches nodes and NICs (sriov-operator.md E.3). Upstream refuses a policy whose
 * nodes are not discovered yet, so nodes and policies cannot be applied together from one repository. Here such a policy is
 * admitted with a warning. A policy is refused if all of its nodes are discovered and none of their NICs match.
 */
import type { InterfaceStatus, SriovNetworkNodePolicy } from "@switchyard/api";
import {
  adviceOnExcludedNics,
  couldMatchNic,
  describeBroadSelector,
  describeEmptySelector,
  describeIdleEntry,
  describeNearest,
  idleEntries,
  isEmptyNicSelector,
  isEmptySelector,
  nearestNic,
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
  const findings: ReviewFinding[] = [];
  if (undiscovered.length > 0) {
    const names = listNames(namesOf(undiscovered));
    const message = `the NICs of ${names} are not discovered yet: the policy's status will show whether they match`;
    findings.push(warn(nodeSelector, message));
  }
  if (unmatched.length === 0 || isEmptyNicSelector(spec.nicSelector)) return findings;
  if (matches.length > 0) {
    findings.push(warn("spec.nicSelector", `matches no NIC on ${listNames(namesOf(unmatched))}`));
    return findings;
  }
  if (undiscovered.length > 0) return findings;
  const layoutNics = unmatched.flatMap(({ state }) => state.layout);
  const nearest = nearestNic(spec.nicSelector, layoutNics);
  const advice = adviceOnExcludedNics(spec.nicSelector, layoutNics, view.nics);
  const message = [
    `matches no NIC on ${anyOf(namesOf(unmatched))}`,
    ...(nearest === undefined ? [] : [`nearest match: ${describeNearest(nearest)}`]),
    ...((spec.nicSelector.pfNames ?? []).some((name) => /[*?]/.test(name)) ? [noPatterns] : []),
    ...(advice === undefined ? [] : [advice]),
    describeNics(unmatched, nearest?.nic),
  ];
  const violation = { code: "no-nic", nodes: namesOf(unmatched), amount: 0 };
  return [refuse("spec.nicSelector", message.join("; "), violation)];
}

/** A list of which some entries match NICs, and others none on any node: half of the VFs would be missing without a word. */
export function checkListEntries(
  { spec }: SriovNetworkNodePolicy,
  { targets }: PolicyContext,
): readonly ReviewFinding[] {
  const { matches, unmatched } = targets;
  if (matches.length === 0) return []; // checkTargets reports it
  const discovered = [...matches.flatMap(({ groups }) => groups), ...unmatched];
  const nics = [...new Set(discovered.map(({ state }) => state.layout))].flat();
  const names = namesOf(discovered);
  return idleEntries(spec.nicSelector, nics, couldMatchNic).map((entry) =>
    warn(entry.field, describeIdleEntry(entry, names)),
  );
}

const noPatterns = "pfNames has no patterns: write each name, or select NICs by vendor and deviceID";

function anyOf(names: readonly string[]): string {
  return names.length === 1 ? names.join() : `any of ${names.length} nodes`;
}

/** All NICs of the nodes with the nearest match, else of the first nodes. Nodes with other NICs are only counted. */
function describeNics(groups: readonly DiscoveredGroup[], nearest: InterfaceStatus | undefined): string {
  const layouts = Map.groupBy(groups, ({ state }) => state.layout);
  const entries = [...layouts];
  const [layout = [], sharing = []] =
    entries.find(([nics]) => nearest !== undefined && nics.includes(nearest)) ?? entries[0] ?? [];
  const nics = layout.map(
    ({ name = "unnamed", pciAddress, vendor = "?", deviceID = "?" }) =>
      `${name.slice(0, maxNameLength)} (${pciAddress}, ${vendor}:${deviceID})`,
  );
  return `available NICs on ${listNames(namesOf(sharing))}: ${listNames(nics, maxNics)}`;
}

/** A node has at most as many PFs as its report (statusPfs) keeps; a refusal is one line. */
const maxNics = 64;

/** A node can write any text into its status. Real names need less. */
const maxNameLength = 64;
