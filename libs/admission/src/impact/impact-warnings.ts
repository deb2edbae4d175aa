// SPDX-License-Identifier: Apache-2.0
/**
 * impactWarnings describes a change's impact for kubectl to show: a summary, then one line for each kind of change with
 * the nodes on which it disrupts pods, reboots first. A change that disrupts nothing has no line. The number of lines is
 * limited, whatever the size of the cluster.
 */
import type { Impact } from "@switchyard/plan";
import type { PodUse } from "@switchyard/policy";
import type { ClusterView } from "../cluster-view.ts";
import type { ClusterImpact, GroupImpact, PfChange } from "./impact.ts";
import { countNodes, namesOf } from "../node-groups.ts";
import { cutLine, listNames } from "../finding.ts";
import { holdersIn } from "../held-vfs.ts";
import type { VfMove } from "./changed-pfs.ts";

/** As many warnings as kubectl can show without hiding the result of the command. */
export const maxWarnings = 10;

/** In UTF-16 units. The API server cuts a warning at 256 characters, and all warnings of a response at 4096. */
export const maxWarningLength = 200;

export interface WarningOptions {
  readonly disableDrain: boolean;
  readonly podsOn?: ClusterView["podsOn"];
  /** The number of lines; `maxWarnings` unless given. */
  readonly maxLines?: number;
}

/** Returns at most `maxLines` lines, and none if the change drains or reboots no node, delays nothing, and can be applied. */
export function impactWarnings(impact: ClusterImpact, options: WarningOptions): readonly string[] {
  const { disableDrain, podsOn, maxLines = maxWarnings } = options;
  const merged = [...mergeChanges(impact.groups)].sort((a, b) => severity[b.impact] - severity[a.impact]);
  const moves = merged.flatMap(describeMoves);
  const lines = merged.flatMap((change) => describeChange(change, podsOn));
  const summary = describeSummary(impact);
  if (summary === undefined) return moves.slice(0, maxLines).map((line) => cutLine(line, maxWarningLength));
  lines.push(...moves);
  if (disableDrain && impact.groups.some((group) => group.impact === "drain")) {
    lines.unshift(
      "nodes are not drained because spec.disableDrain is set in SriovOperatorConfig/default: running pods lose their VFs",
    );
  }
  // A single line needs no summary.
  const all = lines.length === 1 && impact.skipped === 0 ? lines : [summary, ...lines];
  // Two at least: the line with their number takes the place of one.
  const hidden = all.length - maxLines + 1;
  const shown = all.length <= maxLines ? all : [...all.slice(0, maxLines - 1), `${hidden} more changes are not shown`];
  return shown.map((line) => cutLine(line, maxWarningLength));
}

const severity: Readonly<Record<Impact, number>> = { none: 0, drain: 1, reboot: 2 };

/** The same change of the same PFs, with all groups of nodes that have it. */
interface MergedChange {
  readonly impact: Impact;
  readonly summary: string;
  readonly problems: readonly string[];
  readonly pciAddresses: readonly string[];
  readonly groups: readonly GroupImpact[];
  /** Those of one of the PFs. */
  readonly moves: readonly VfMove[];
}

/** Counts the nodes that are drained, rebooted or cannot be changed, and those that were not evaluated. */
function describeSummary({ groups, skipped }: ClusterImpact): string | undefined {
  const affected = nodeCount(groups.filter(({ impact, changes }) => impact !== "none" || changes.some(hasProblems)));
  if (affected === 0) return skipped === 0 ? undefined : unevaluated(skipped);
  const nodesWith = (impact: Impact) => nodeCount(groups.filter((group) => group.impact === impact));
  const [reboots, drains] = [nodesWith("reboot"), nodesWith("drain")];
  const parts = [
    ...(reboots > 0 ? [reboots === 1 ? "1 is rebooted" : `${reboots} are rebooted`] : []),
    ...(drains > 0 ? [drains === 1 ? "1 is drained" : `${drains} are drained`] : []),
  ];
  const nodes = affected === 1 ? "1 node is affected" : `${affected} nodes are affected`;
  const summary = `${nodes}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}`;
  return skipped === 0 ? summary : `${summary}; ${unevaluated(skipped)}`;
}

function unevaluated(skipped: number): string {
  return skipped === 1 ? "1 node could not be evaluated in time" : `${skipped} nodes could not be evaluated in time`;
}

function hasProblems({ problems }: PfChange): boolean {
  return problems.length > 0;
}

function describeChange(change: MergedChange, podsOn: ClusterView["podsOn"]): readonly string[] {
  const { impact, summary, problems, pciAddresses, groups } = change;
  const names = namesOf(groups.map(({ group }) => group));
  const where = names.length === 1 ? `on ${names[0] ?? ""}` : `on ${names.length} nodes`;
  const lines = problems.map((problem) => `cannot be applied ${where}: ${problem}`);
  if (summary === "" || impact === "none") return lines;
  const what = `reconfigures ${listNames(pciAddresses, 2)} (${summary}) ${where}`;
  const users =
    describeHolders(change) ?? (podsOn === undefined ? describeVfsInUse(change) : describePods(change, podsOn));
  // If the line is too long, name fewer nodes: the number of pods matters more.
  const wordings = [3, 2, 1, 0].map((most) => {
    const listed = listNames(names, most);
    return impact === "reboot" ? `${what}: reboots ${listed}${users}` : `${what}: drains ${listed}${users}`;
  });
  return [wordings.find((line) => line.length <= maxWarningLength) ?? wordings[0] ?? what, ...lines];
}

/** "moves 2 VFs of 0000:3b:00.0 from lab to lab2 on w1 when their pods end"; empty if pods have none of them, or are not known. */
function describeMoves({ pciAddresses, groups, moves }: MergedChange): readonly string[] {
  return moves.flatMap(({ from, to, vfs }) => {
    const held = groups.flatMap(({ group }) =>
      group.nodes.flatMap(({ name, state }) => {
        const { holders } = state ?? {};
        const count = holders === undefined ? 0 : pciAddresses.flatMap((pf) => holdersIn(holders, pf, vfs)).length;
        return count > 0 ? [{ name, count }] : [];
      }),
    );
    const count = held.reduce((sum, one) => sum + one.count, 0);
    if (count === 0) return [];
    const [first] = held;
    const where = held.length === 1 ? `on ${first?.name ?? ""}` : `on ${held.length} nodes`;
    const which = `of ${listNames(pciAddresses, 2)} from ${from} to ${to} ${where}`;
    return [count === 1 ? `moves 1 VF ${which} when its pod ends` : `moves ${count} VFs ${which} when their pods end`];
  });
}

/** As describePods(), by the pods that have the VFs; undefined if they are not known on each node. */
function describeHolders({ pciAddresses, groups }: MergedChange): string | undefined {
  let pods = 0;
  for (const { group, changes } of groups) {
    const own = changes.filter(({ pciAddress }) => pciAddress !== undefined && pciAddresses.includes(pciAddress));
    for (const { state } of group.nodes) {
      const { holders } = state ?? {};
      if (holders === undefined) return undefined;
      pods += new Set(own.flatMap(({ pciAddress = "", vfs }) => holdersIn(holders, pciAddress, vfs))).size;
    }
  }
  return describeCount(pods);
}

/** "; 12 pods use these VFs": pods that request a resource of the PFs or were allocated one of their VFs. */
function describePods({ pciAddresses, groups }: MergedChange, podsOn: NonNullable<ClusterView["podsOn"]>): string {
  let pods = 0;
  const known = new Map<readonly PfChange[], ReadonlySet<string>>(); // nodes with the same plan share their changes
  for (const { group, changes } of groups) {
    const resources = known.get(changes) ?? resourcesOf(pciAddresses, changes);
    known.set(changes, resources);
    for (const { name } of group.nodes) {
      pods += podsOn(name).filter((use) => usesVfs(use, resources, pciAddresses)).length;
    }
  }
  return describeCount(pods);
}

function describeCount(pods: number): string {
  if (pods === 0) return "; no pods use these VFs";
  return pods === 1 ? "; 1 pod uses these VFs" : `; ${pods} pods use these VFs`;
}

/** A pod whose devices are uncertain counts: a drain evicts it, too. */
function usesVfs(use: PodUse, resources: ReadonlySet<string>, pfs: readonly string[]): boolean {
  return (
    use.resources.some((resource) => resources.has(resource)) ||
    use.pfs.some((pf) => pfs.includes(pf)) ||
    use.isUncertain
  );
}

function resourcesOf(pciAddresses: readonly string[], changes: readonly PfChange[]): ReadonlySet<string> {
  const ofPfs = changes.filter(({ pciAddress }) => pciAddress !== undefined && pciAddresses.includes(pciAddress));
  return new Set(ofPfs.flatMap(({ resources }) => resources));
}

/** "; 3 VFs are in use by pods": as far as the statuses show it. */
function describeVfsInUse({ pciAddresses, groups }: MergedChange): string {
  let vfs = 0;
  for (const { group } of groups) {
    const pfs = (group.state.status.interfaces ?? []).filter(({ pciAddress }) => pciAddresses.includes(pciAddress));
    // The host does not see the network interface of a VF that is in a pod. A VF with vfio-pci never has one.
    const inPods = pfs
      .flatMap(({ Vfs = [] }) => Vfs)
      .filter(({ name, driver }) => !name && driver && driver !== "vfio-pci");
    vfs += inPods.length * group.nodes.length;
  }
  if (vfs === 0) return "";
  return vfs === 1 ? "; 1 VF is in use by pods" : `; ${vfs} VFs are in use by pods`;
}

function nodeCount(groups: readonly GroupImpact[]): number {
  return countNodes(groups.map(({ group }) => group));
}

/** Merges equal changes of one PF on several groups of nodes, then equal changes of several PFs on the same groups. */
function mergeChanges(groups: readonly GroupImpact[]): Iterable<MergedChange> {
  const byChange = new Map<string, { readonly change: PfChange; readonly groups: GroupImpact[]; indexes: string }>();
  const keys = new Map<PfChange, string>();
  for (const [index, group] of groups.entries()) {
    for (const change of group.changes) {
      const { pciAddress, summary, impact, problems, moves } = change;
      const key = keys.get(change) ?? JSON.stringify([pciAddress, summary, impact, problems, moves]);
      keys.set(change, key);
      const entry = byChange.get(key) ?? { change, groups: [], indexes: "" };
      entry.groups.push(group);
      entry.indexes += `${index} `;
      byChange.set(key, entry);
    }
  }
  const merged = new Map<string, MergedChange & { readonly pciAddresses: string[] }>();
  for (const { change, groups: affected, indexes } of byChange.values()) {
    const { summary, impact, problems, pciAddress, moves } = change;
    const key = JSON.stringify([summary, impact, problems, moves, indexes]);
    const entry = merged.get(key) ?? { summary, impact, problems, pciAddresses: [], groups: affected, moves };
    if (pciAddress !== undefined) entry.pciAddresses.push(pciAddress);
    merged.set(key, entry);
  }
  return merged.values();
}
