// SPDX-License-Identifier: Apache-2.0
/**
 * selectMachineConfigPools selects the hosts on OpenShift: each entry of spec.ovnHardwareOffload selects the custom
 * MachineConfigPools whose spec.nodeSelector has all of its labels (smartnic.md 2.5).
 */
import { labels } from "@switchyard/api";
import type { MachineConfigPool, Node, OvnHardwareOffload } from "@switchyard/api";
import { compareText } from "../order.ts";
import { labelsOf, type Labels } from "../nodes/label-selector.ts";
import { exclusiveRole, readPoolSelectors, requiresLabels, type PoolSelectors } from "./machine-config-selectors.ts";
import { controlPlaneProblem, isOfControlPlane, severalPoolsProblem } from "./node-problems.ts";
import {
  offloadProblem,
  type OffloadPool,
  type OffloadProblem,
  type OffloadProblemCode,
  type OffloadSelection,
} from "./offload-selection.ts";
import { isPoolName } from "./pool-name.ts";

/** Returns the selected pools. A pool that is being deleted counts as selected until it is gone. */
export function selectMachineConfigPools(
  entries: readonly OvnHardwareOffload[],
  machineConfigPools: readonly MachineConfigPool[],
  nodes: readonly Node[],
): OffloadSelection {
  const problems: OffloadProblem[] = [];
  const sorted = machineConfigPools.toSorted((a, b) => compareText(a.metadata.name, b.metadata.name));
  const readable = sorted.flatMap((pool) => readPoolSelectors(pool) ?? []);
  const unreadable = sorted.filter((pool) => !readable.some((one) => one.pool === pool));
  const selected = new Map<PoolSelectors, SelectedPool>();
  for (const [entry, one] of entries.entries()) {
    if (Object.keys(one.nodeSelector).length === 0) continue;
    const found = readable.filter(({ nodeSelector }) => requiresLabels(nodeSelector, one.nodeSelector));
    if (found.length === 0) problems.push(noPool(entry, one.nodeSelector, readable, unreadable));
    problems.push(...unreadable.map(({ metadata: { name } }) => unreadablePool(entry, name)));
    for (const pool of found) {
      const earlier = selected.get(pool);
      const problem = earlier === undefined ? poolProblem(pool, readable) : selectedTwice(pool, earlier);
      if (problem !== undefined) problems.push(offloadProblem({ ...problem, entry, pool: pool.pool.metadata.name }));
      else selected.set(pool, { entry, taint: one.taint, nodes: [] });
    }
  }
  assignNodes(nodes, readable, selected, problems);
  return { pools: [...selected].map(([pool, one]) => offloadPool(pool, one, readable)), problems };
}

interface SelectedPool {
  readonly entry: number;
  readonly taint: "NoSchedule" | undefined;
  readonly nodes: string[];
}

interface PoolFault {
  readonly code: OffloadProblemCode;
  readonly message: string;
}

function offloadPool(selectors: PoolSelectors, { entry, taint, nodes }: SelectedPool, all: readonly PoolSelectors[]) {
  const role = exclusiveRole(selectors, all);
  const pool: OffloadPool = {
    name: selectors.pool.metadata.name,
    entry,
    ...(taint && { taint }),
    ...(role !== undefined && { role }),
    nodes: nodes.toSorted(compareText),
  };
  return pool;
}

/** Adds each node to its pool. A node may be in one custom pool only, selected or not. */
function assignNodes(
  nodes: readonly Node[],
  all: readonly PoolSelectors[],
  selected: ReadonlyMap<PoolSelectors, SelectedPool>,
  problems: OffloadProblem[],
): void {
  if (selected.size === 0) return;
  const custom = all.filter(({ pool }) => !isReserved(pool.metadata.name));
  for (const node of nodes) {
    const labels = labelsOf(node);
    const ofNode = custom.filter(({ selectsNode }) => selectsNode(labels));
    const names = ofNode.map(({ pool }) => ({ name: pool.metadata.name }));
    for (const one of ofNode) {
      const pool = selected.get(one);
      if (pool === undefined) continue;
      const at = { entry: pool.entry, name: one.pool.metadata.name };
      if (isOfControlPlane(node)) problems.push(controlPlaneProblem(node, at));
      else if (ofNode.length > 1) problems.push(severalPoolsProblem(node, at, names));
      else pool.nodes.push(node.metadata.name);
    }
  }
}

function poolProblem(selectors: PoolSelectors, all: readonly PoolSelectors[]): PoolFault | undefined {
  const { name } = selectors.pool.metadata;
  if (isReserved(name)) {
    const message =
      `nodeSelector selects the pool ${name}, which cannot be used: ` +
      "create a custom MachineConfigPool for the hosts of SmartNICs and select its labels";
    return { code: "reserved-pool", message };
  }
  if (!isPoolName(name)) {
    const message = `the name of pool ${name} cannot be the value of a label: use at most 63 characters`;
    return { code: "bad-pool-name", message };
  }
  if (exclusiveRole(selectors, all) !== undefined) return undefined;
  const message =
    `spec.machineConfigSelector of pool ${name} selects no MachineConfig that other pools do not get, too: ` +
    `it must select the role ${name} (${labels.machineConfigRole}), and no other pool may select that role`;
  return { code: "no-role", message };
}

function selectedTwice({ pool }: PoolSelectors, { entry }: SelectedPool): PoolFault {
  const message = `entry ${entry} selects pool ${pool.metadata.name}, too: a pool must be selected by one entry only`;
  return { code: "pool-selected-twice", message };
}

function noPool(
  entry: number,
  selector: Labels,
  all: readonly PoolSelectors[],
  unreadable: readonly MachineConfigPool[],
): OffloadProblem {
  const custom = all.map(({ pool }) => pool.metadata.name).filter((name) => !isReserved(name));
  const bad = unreadable.map(({ metadata }) => metadata.name);
  const labels = Object.entries(selector).map(([key, value]) => (value === "" ? key : `${key}=${value}`));
  const present = custom.length === 0 ? "there is no custom pool" : `the custom pools are ${list(custom)}`;
  const more = bad.length === 0 ? "" : `; the selectors of ${list(bad)} are invalid`;
  const missing =
    labels.length > 1
      ? `no MachineConfigPool has the labels ${list(labels)} in its spec.nodeSelector`
      : `no MachineConfigPool has the label ${list(labels)} in its spec.nodeSelector`;
  const message = `${missing}; ${present}${more}`;
  return offloadProblem({ code: "no-pool", entry, message });
}

function unreadablePool(entry: number, pool: string): OffloadProblem {
  const message = `the selectors of pool ${pool} are invalid, so it is not known whether the entry selects it: correct them`;
  return offloadProblem({ code: "unreadable-pool", entry, pool, message });
}

function list(names: readonly string[]): string {
  const more = names.length - maxListed;
  return `${names.slice(0, maxListed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const maxListed = 16;

function isReserved(name: string): boolean {
  return name === "master" || name === "worker";
}
