// SPDX-License-Identifier: Apache-2.0
/**
 * Whether the policy reaches anything (sriov-operator.md E.3). Upstream refuses one whose nodes have not been discovered
 * yet, so that no repository can hold a cluster's nodes and policies together. Here it waits, with a warning; refused is
 * what matches no card of any node, all of which are known.
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { adviceOnBarred, isEmptyNicSelector } from "@switchyard/policy";
import { refuse, warn, type Finding } from "../finding.ts";
import { namesOf, type DiscoveredSort } from "../node-sorts.ts";
import { count, listNames } from "../phrase.ts";
import type { PolicyContext } from "../policy-context.ts";

export function checkReach({ spec }: SriovNetworkNodePolicy, { view, reach }: PolicyContext): readonly Finding[] {
  const { selected, outside, undiscovered, unmatched, landings } = reach;
  if (view.nodes.length === 0) return []; // asked without a cluster, or of a namespace that nobody looks into
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
  if (landings.length > 0 || unmatched.length === 0 || isEmptyNicSelector(spec.nicSelector)) return [];
  const names = namesOf(unmatched);
  const where = names.length === 1 ? names.join() : `any of ${count(names.length, "node")}`;
  const nics = unmatched.flatMap(({ state }) => state.layout);
  const advice = adviceOnBarred(spec.nicSelector, nics, view.nics);
  const message = `matches no NIC on ${where}; available NICs: ${describeCards(unmatched)}`;
  return [refuse("spec.nicSelector", advice === undefined ? message : `${message}; ${advice}`)];
}

/** "ens1f0 (0000:3b:00.0, 8086:158b), …", a few of them. */
function describeCards(sorts: readonly DiscoveredSort[]): string {
  const cards = new Set<string>();
  for (const layout of new Set(sorts.map(({ state }) => state.layout))) {
    for (const { name = "unnamed", pciAddress, vendor = "?", deviceID = "?" } of layout) {
      cards.add(`${name} (${pciAddress}, ${vendor}:${deviceID})`);
    }
  }
  return listNames([...cards], 4);
}
