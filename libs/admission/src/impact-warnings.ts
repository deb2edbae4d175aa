// SPDX-License-Identifier: Apache-2.0
/**
 * A change's impact in words, for kubectl to show: what it reaches, then each sort of change with the nodes that it
 * disturbs, the gravest first. Bounded, whatever the size of the cluster.
 * Usage: `impactWarnings(impactOf(change, view, limits), { disableDrain: false })`.
 */
import type { Impact } from "@switchyard/plan";
import type { PodUse } from "@switchyard/policy";
import type { ClusterView } from "./cluster-view.ts";
import type { ClusterImpact, PfChange, SortImpact } from "./impact.ts";
import { countNodes, namesOf } from "./node-sorts.ts";
import { clip, count, listNames } from "./phrase.ts";

/** As many warnings as kubectl shows without hiding the answer. */
export const mostWarnings = 10;

/** What the API server passes on of a warning: it cuts at 256 characters, and all of them together at 4096. */
export const longestWarning = 200;

export interface WarningOptions {
  readonly disableDrain: boolean;
  readonly podsOn?: ClusterView["podsOn"];
  readonly most?: number;
}

/** At most `most` lines; none where the change does nothing. */
export function impactWarnings(impact: ClusterImpact, options: WarningOptions): readonly string[] {
  const { disableDrain, podsOn, most = mostWarnings } = options;
  const lines = [...groupsOf(impact.sorts)]
    .sort((a, b) => gravity[b.impact] - gravity[a.impact])
    .flatMap((group) => describeGroup(group, podsOn));
  const head = describeReach(impact);
  if (head === undefined) return [];
  if (disableDrain && impact.sorts.some((sort) => sort.impact === "drain")) {
    lines.unshift(
      "nodes are not drained because spec.disableDrain is set in SriovOperatorConfig/default: running pods lose their VFs",
    );
  }
  // One node with one change needs no summary.
  const all = lines.length === 1 && impact.skipped === 0 ? lines : [head, ...lines];
  const shown =
    all.length <= most ? all : [...all.slice(0, most - 1), `${all.length - most + 1} more changes are not shown`];
  return shown.map((line) => clip(line, longestWarning));
}

const gravity: Readonly<Record<Impact, number>> = { none: 0, drain: 1, reboot: 2 };

/** The same change of the same PFs, with all nodes that it happens to. */
interface Group {
  readonly impact: Impact;
  readonly summary: string;
  readonly problems: readonly string[];
  readonly pciAddresses: readonly string[];
  readonly sorts: readonly SortImpact[];
}

function describeReach({ sorts, skipped }: ClusterImpact): string | undefined {
  if (sorts.length === 0 && skipped === 0) return undefined;
  const of = (impact: Impact) => nodeCount(sorts.filter((sort) => sort.impact === impact));
  const parts = [
    ...(of("reboot") > 0 ? [`reboots ${of("reboot")}`] : []),
    ...(of("drain") > 0 ? [`drains ${of("drain")}`] : []),
    ...(of("none") > 0 ? [`disrupts no pods on ${of("none")}`] : []),
  ];
  const reached = `affects ${count(nodeCount(sorts), "node")}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}`;
  return skipped === 0 ? reached : `${reached}; ${count(skipped, "more node")} could not be evaluated in time`;
}

function describeGroup(group: Group, podsOn: ClusterView["podsOn"]): readonly string[] {
  const { impact, summary, problems, pciAddresses, sorts } = group;
  const names = namesOf(sorts.map(({ sort }) => sort));
  const where = `on ${names.length === 1 ? (names[0] ?? "") : count(names.length, "node")}`;
  const lines = problems.map((problem) => `cannot be applied ${where}: ${problem}`);
  if (summary === "") return lines;
  const what = `reconfigures ${listNames(pciAddresses, 2)} (${summary}) ${where}`;
  if (impact === "none") return [`${what}: disrupts no pods`, ...lines];
  const verb = impact === "reboot" ? "reboots" : "drains";
  const users = podsOn === undefined ? describeVfs(group) : describePods(group, podsOn);
  // How many pods it is about is worth more than the name of one more node.
  const wordings = [3, 2, 1, 0].map((most) => `${what}: ${verb} ${listNames(names, most)}${users}`);
  return [wordings.find((line) => line.length <= longestWarning) ?? wordings[0] ?? what, ...lines];
}

/** "; 12 pods use these VFs": those that request a resource which the PFs have VFs for, or were allocated a VF of theirs. */
function describePods({ pciAddresses, sorts }: Group, podsOn: NonNullable<ClusterView["podsOn"]>): string {
  let pods = 0;
  const known = new Map<readonly PfChange[], ReadonlySet<string>>(); // nodes with the same plan share their changes
  for (const { sort, changes } of sorts) {
    const resources = known.get(changes) ?? resourcesOn(pciAddresses, changes);
    known.set(changes, resources);
    for (const { name } of sort.nodes) {
      pods += podsOn(name).filter((use) => usesThese(use, resources, pciAddresses)).length;
    }
  }
  if (pods === 0) return "; no pods use these VFs";
  return `; ${count(pods, "pod")} use${pods === 1 ? "s" : ""} these VFs`;
}

/** One that may use them counts: a drain moves it, too. */
function usesThese(use: PodUse, resources: ReadonlySet<string>, pfs: readonly string[]): boolean {
  return (
    use.resources.some((resource) => resources.has(resource)) ||
    use.pfs.some((pf) => pfs.includes(pf)) ||
    use.isUncertain
  );
}

function resourcesOn(pciAddresses: readonly string[], changes: readonly PfChange[]): ReadonlySet<string> {
  const those = changes.filter(({ pciAddress }) => pciAddress !== undefined && pciAddresses.includes(pciAddress));
  return new Set(those.flatMap(({ resources }) => resources));
}

/** "; 3 VFs are in use by pods": as far as the statuses tell. */
function describeVfs({ pciAddresses, sorts }: Group): string {
  let vfs = 0;
  for (const { sort } of sorts) {
    const pfs = (sort.state.status.interfaces ?? []).filter(({ pciAddress }) => pciAddresses.includes(pciAddress));
    // The host does not see the interface of a VF that is in a pod. Of vfio-pci it sees none at all.
    const inPods = pfs
      .flatMap(({ Vfs = [] }) => Vfs)
      .filter(({ name, driver }) => !name && driver && driver !== "vfio-pci");
    vfs += inPods.length * sort.nodes.length;
  }
  return vfs > 0 ? `; ${count(vfs, "VF")} ${vfs === 1 ? "is" : "are"} in use by pods` : "";
}

function nodeCount(sorts: readonly SortImpact[]): number {
  return countNodes(sorts.map(({ sort }) => sort));
}

function groupsOf(sorts: readonly SortImpact[]): Iterable<Group> {
  const byChange = new Map<string, { readonly change: PfChange; readonly sorts: SortImpact[]; places: string }>();
  const keys = new Map<PfChange, string>();
  for (const [place, sort] of sorts.entries()) {
    for (const change of sort.changes) {
      const { pciAddress, summary, impact, problems } = change;
      const key = keys.get(change) ?? JSON.stringify([pciAddress, summary, impact, problems]);
      keys.set(change, key);
      const group = byChange.get(key) ?? { change, sorts: [], places: "" };
      group.sorts.push(sort);
      group.places += `${place} `;
      byChange.set(key, group);
    }
  }
  // Then PFs with the same change on the same nodes in one line.
  const groups = new Map<string, Group & { readonly pciAddresses: string[] }>();
  for (const { change, sorts: reached, places } of byChange.values()) {
    const { summary, impact, problems, pciAddress } = change;
    const key = JSON.stringify([summary, impact, problems, places]);
    const group = groups.get(key) ?? { summary, impact, problems, pciAddresses: [], sorts: reached };
    if (pciAddress !== undefined) group.pciAddresses.push(pciAddress);
    groups.set(key, group);
  }
  return groups.values();
}
