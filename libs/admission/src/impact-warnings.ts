// SPDX-License-Identifier: Apache-2.0
/**
 * A change's impact in words, for kubectl to show: what it reaches, then each sort of change with the nodes that it
 * disturbs, the gravest first. Bounded, whatever the size of the cluster.
 * Usage: `impactWarnings(impactOf(change, view, limits), { disableDrain: false })`.
 */
import type { Impact } from "@switchyard/plan";
import type { ClusterImpact, NodeImpact, PfChange } from "./impact.ts";
import { clip, count, listNames } from "./phrase.ts";

/** As many warnings as kubectl shows without hiding the answer. */
export const mostWarnings = 10;

/** What the API server passes on of a warning: it cuts at 256 characters, and all of them together at 4096. */
export const longestWarning = 200;

/** At most `most` lines; none where the change does nothing. */
export function impactWarnings(
  impact: ClusterImpact,
  { disableDrain, most = mostWarnings }: { readonly disableDrain: boolean; readonly most?: number },
): readonly string[] {
  const lines = [...groupsOf(impact.nodes)]
    .sort((a, b) => gravity[b.impact] - gravity[a.impact])
    .flatMap(describeGroup);
  const head = describeReach(impact);
  if (head === undefined) return [];
  if (disableDrain && impact.nodes.some((node) => node.impact === "drain")) {
    lines.unshift("nodes are not drained, as disableDrain is set: pods lose their VFs while they run");
  }
  // One node with one change needs no summary.
  const all = lines.length === 1 && impact.skipped === 0 ? lines : [head, ...lines];
  const shown = all.length <= most ? all : [...all.slice(0, most - 1), `${all.length - most + 1} more changes`];
  return shown.map((line) => clip(line, longestWarning));
}

const gravity: Readonly<Record<Impact, number>> = { none: 0, drain: 1, reboot: 2 };

/** The same change of the same PFs, with all nodes that it happens to. */
interface Group {
  readonly impact: Impact;
  readonly summary: string;
  readonly problems: readonly string[];
  readonly pciAddresses: readonly string[];
  readonly nodes: readonly NodeImpact[];
}

function describeReach({ nodes, skipped }: ClusterImpact): string | undefined {
  if (nodes.length === 0 && skipped === 0) return undefined;
  const of = (impact: Impact) => nodes.filter((node) => node.impact === impact).length;
  const parts = [
    ...(of("reboot") > 0 ? [`reboots ${of("reboot")}`] : []),
    ...(of("drain") > 0 ? [`drains ${of("drain")}`] : []),
    ...(of("none") > 0 ? [`disturbs no pod on ${of("none")}`] : []),
  ];
  const reached = `reaches ${count(nodes.length, "node")}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}`;
  return skipped === 0 ? reached : `${reached}; ${count(skipped, "more node")} could not be looked at in time`;
}

function describeGroup({ impact, summary, problems, pciAddresses, nodes }: Group): readonly string[] {
  const names = nodes.map(({ node }) => node.name);
  const where = `on ${names.length === 1 ? (names[0] ?? "") : count(names.length, "node")}`;
  const pfs = listNames(pciAddresses, 2);
  const lines = problems.map((problem) => `cannot be done ${where}: ${problem}`);
  if (summary === "") return lines;
  const what = `reconfigures ${pfs} (${summary}) ${where}`;
  if (impact === "none") return [`${what}: disturbs no pod`, ...lines];
  const disturbs = `${impact === "reboot" ? "reboots" : "drains"} ${listNames(names)}`;
  return [`${what}: ${disturbs}${describePods(pciAddresses, nodes)}`, ...lines];
}

/** "; 12 pods use these VFs", or how many VFs are in pods as far as the statuses tell. */
function describePods(pciAddresses: readonly string[], nodes: readonly NodeImpact[]): string {
  let pods: number | undefined;
  let vfs = 0;
  for (const { node } of nodes) {
    for (const address of pciAddresses) {
      const known = node.podsByPf?.[address];
      if (known !== undefined) pods = (pods ?? 0) + known;
      const pf = node.state.status.interfaces?.find(({ pciAddress }) => pciAddress === address);
      // The host does not see the interface of a VF that is in a pod. Of vfio-pci it sees none at all.
      vfs += (pf?.Vfs ?? []).filter(({ name, driver }) => !name && driver && driver !== "vfio-pci").length;
    }
  }
  if (pods !== undefined) return `; ${count(pods, "pod")} use${pods === 1 ? "s" : ""} these VFs`;
  return vfs > 0 ? `; ${count(vfs, "VF")} ${vfs === 1 ? "is" : "are"} in use by pods` : "";
}

function groupsOf(nodes: readonly NodeImpact[]): Iterable<Group> {
  const byChange = new Map<string, { readonly change: PfChange; readonly nodes: NodeImpact[] }>();
  const keys = new Map<PfChange, string>(); // nodes of one sort share their changes
  for (const node of nodes) {
    for (const change of node.changes) {
      const key = keys.get(change) ?? JSON.stringify(change);
      keys.set(change, key);
      const group = byChange.get(key);
      if (group === undefined) byChange.set(key, { change, nodes: [node] });
      else group.nodes.push(node);
    }
  }
  // Then PFs with the same change on the same nodes in one line.
  const groups = new Map<string, Group & { readonly pciAddresses: string[] }>();
  for (const { change, nodes: reached } of byChange.values()) {
    const { summary, impact, problems, pciAddress } = change;
    const key = JSON.stringify([summary, impact, problems, reached.map(({ node }) => node.name)]);
    const group = groups.get(key) ?? { summary, impact, problems, pciAddresses: [], nodes: reached };
    if (pciAddress !== undefined) group.pciAddresses.push(pciAddress);
    groups.set(key, group);
  }
  return groups.values();
}
