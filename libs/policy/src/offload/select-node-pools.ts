// SPDX-License-Identifier: Apache-2.0
/**
 * selectNodePools selects the hosts in clusters without MachineConfigPools: each entry of spec.ovnHardwareOffload is a pool
 * of its own.
 */
import type { Node, OvnHardwareOffload } from "@switchyard/api";
import { compareText } from "../order.ts";
import { hasLabels, labelsOf, type Labels } from "../nodes/label-selector.ts";
import { controlPlaneProblem, isOfControlPlane, severalPoolsProblem } from "./node-problems.ts";
import { offloadProblem, type OffloadPool, type OffloadProblem, type OffloadSelection } from "./offload-selection.ts";
import { hashedPoolNameOf, poolNameOf } from "./pool-name.ts";

/** Returns one pool for each entry with another nodeSelector. */
export function selectNodePools(entries: readonly OvnHardwareOffload[], nodes: readonly Node[]): OffloadSelection {
  const problems: OffloadProblem[] = [];
  const named = namedEntries(entries, problems);
  const members = new Map<string, string[]>(named.map(({ name }) => [name, []]));
  for (const node of nodes) {
    const labels = labelsOf(node);
    const selecting = named.filter(({ nodeSelector }) => hasLabels(labels, nodeSelector));
    const [first] = selecting;
    if (first === undefined) continue;
    if (isOfControlPlane(node)) {
      problems.push(...selecting.map(({ entry, name }) => controlPlaneProblem(node, { entry, name })));
    } else if (selecting.length > 1) {
      problems.push(...selecting.map(({ entry, name }) => severalPoolsProblem(node, { entry, name }, selecting)));
    } else members.get(first.name)?.push(node.metadata.name);
  }
  const pools = named.map(({ name, entry, taint }): OffloadPool => {
    const nodesOfPool = (members.get(name) ?? []).toSorted(compareText);
    return { name, entry, ...(taint && { taint }), nodes: nodesOfPool };
  });
  const reported = new Set(problems.map(({ entry }) => entry));
  for (const { name: pool, entry, nodes: found } of pools) {
    if (found.length > 0 || reported.has(entry)) continue;
    const message = "nodeSelector selects no node; nodes that get its labels later become hosts then";
    problems.push(offloadProblem({ code: "no-node", entry, pool, message }));
  }
  return { pools, problems };
}

interface NamedEntry extends OvnHardwareOffload {
  readonly entry: number;
  readonly name: string;
}

/** Names each nodeSelector. Of two selectors with the same name, the one that is first in text order keeps it. */
function namedEntries(entries: readonly OvnHardwareOffload[], problems: OffloadProblem[]): readonly NamedEntry[] {
  const bySelector = new Map<string, NamedEntry>();
  for (const [entry, one] of entries.entries()) {
    if (Object.keys(one.nodeSelector).length === 0) continue;
    const text = selectorText(one.nodeSelector);
    const earlier = bySelector.get(text);
    const name = poolNameOf(one.nodeSelector);
    if (earlier === undefined) bySelector.set(text, { ...one, entry, name });
    else {
      const message = `nodeSelector is the same as that of entry ${earlier.entry}: remove one of the entries`;
      problems.push(offloadProblem({ code: "pool-selected-twice", entry, pool: name, message }));
    }
  }
  const taken = new Set<string>();
  const named: NamedEntry[] = [];
  for (const [, one] of [...bySelector].sort(([a], [b]) => compareText(a, b))) {
    const name = taken.has(one.name) ? hashedPoolNameOf(one.nodeSelector) : one.name;
    taken.add(name);
    named.push({ ...one, name });
  }
  return named;
}

function selectorText(selector: Labels): string {
  return JSON.stringify(Object.entries(selector).sort(([a], [b]) => compareText(a, b)));
}
