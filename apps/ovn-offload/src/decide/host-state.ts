// SPDX-License-Identifier: Apache-2.0
/**
 * HostState are what is known about one host, or a node that becomes or was one. "Unknown" is a value of its own: nothing is
 * removed because of it.
 */
import { annotations, labels, taints, type MachineConfigPool } from "@switchyard/api";
import { smartNicVfLimit, smartNicVfProblem, type SmartNicVfLimit } from "@switchyard/plan";
import { smartNicsOf, type SmartNicModel } from "@switchyard/policy";
import { dnsEligibleLabel, managementPortName } from "@switchyard/render";
import type { NodeReport, ObservedNode } from "./observed.ts";

export interface HostState {
  readonly node: ObservedNode;
  readonly name: string;
  /** The pool in the node's label; undefined if the node is not marked. */
  readonly marker: string | undefined;
  /** Models of the node's SmartNICs; undefined before the first report. */
  readonly cards: readonly SmartNicModel[] | undefined;
  /** Current mode of the SmartNIC. */
  readonly cardMode: string | undefined;
  /** Why OVN cannot run on the SmartNIC in its current mode; undefined if it can. */
  readonly modeProblem: string | undefined;
  /** How many VFs each PF of the SmartNIC can have; undefined before the first report. */
  readonly vfLimit: SmartNicVfLimit | undefined;
  /** Why the SmartNIC cannot have the VFs that OVN needs; undefined if it can. */
  readonly vfProblem: string | undefined;
  readonly vfsExist: boolean;
  /** What the config daemon reports as its error; empty if there is none. */
  readonly syncError: string;
  /** Whether it is known that the host keeps its network without Open vSwitch, as far as it still has Open vSwitch. */
  readonly isNetworkKnown: boolean;
  /** Whether VF 0 has its permanent name, or ovnkube's. */
  readonly isNamed: boolean;
  /** Whether the host runs without Open vSwitch; undefined if that is not known. */
  readonly isApplied: boolean | undefined;
  /** The MachineConfigs that the running configuration was made from; undefined if they are not known. */
  readonly appliedConfigs: readonly string[] | undefined;
  /** Whether OVN-Kubernetes can read the name of the management port. */
  readonly isPublished: boolean;
  /** Whether ovn-offload has set labels by which OVN-Kubernetes recognises the host. */
  readonly isLabelled: boolean;
  readonly isTainted: boolean;
}

export interface HostStateSources {
  readonly report: NodeReport | undefined;
  /** Number of management ports of each host. */
  readonly managementVfs: number;
  /** renderedSources of all pools. */
  readonly sources: ReadonlyMap<string, readonly string[]>;
  readonly isPublished: boolean;
}

/** Labels that OVN-Kubernetes does not read. */
const ownMarks: ReadonlySet<string> = new Set([
  labels.ovnOffloadPool,
  labels.ovnManagementResource,
  labels.ovnManagementVfs,
  labels.ovnOffloadFiles,
  dnsEligibleLabel,
]);

/** The name that ovnkube gives to the management port once it uses it. */
const ovnkubeName = "ovn-k8s-mp0";

export function hostState(
  node: ObservedNode,
  { report, managementVfs, sources, isPublished }: HostStateSources,
): HostState {
  const { name, labels: present = {} } = node.metadata;
  const cards = report === undefined || report.interfaces.length === 0 ? undefined : smartNicsOf(report.interfaces);
  const vfName = report?.managementVf?.name ?? "";
  const card = cards?.[0];
  const mode = card?.pfs[0]?.cardMode;
  return {
    node,
    name,
    marker: present[labels.ovnOffloadPool] === "" ? undefined : present[labels.ovnOffloadPool],
    cards: cards?.map(({ model }) => model),
    cardMode: mode?.current,
    modeProblem: modeProblem(mode),
    vfLimit: card && smartNicVfLimit(card),
    vfProblem: card && smartNicVfProblem(card, managementVfs),
    isNetworkKnown: report?.hostNetwork !== undefined,
    vfsExist: report?.isCurrent === true && report.vfsExist && report.managementVfs >= managementVfs,
    syncError: report?.syncError ?? "",
    isNamed: vfName === managementPortName || vfName === ovnkubeName,
    isApplied: isApplied(node, report, sources),
    appliedConfigs: sources.get(node.metadata.annotations?.[annotations.currentMachineConfig] ?? ""),
    isPublished,
    isLabelled: hostLabelsOf(node).length > 0,
    isTainted: node.spec?.taints?.some(({ key }) => key === taints.ovnOffload) === true,
  };
}

/** Returns the keys of the labels that ovn-offload has set for OVN-Kubernetes. */
export function hostLabelsOf(node: ObservedNode): readonly string[] {
  return node.ownLabels.filter((key) => !ownMarks.has(key));
}

/** Returns the MachineConfigs that each merged MachineConfig was made from. */
export function renderedSources(pools: readonly MachineConfigPool[]): ReadonlyMap<string, readonly string[]> {
  const sources = new Map<string, readonly string[]>();
  for (const { spec, status } of pools) {
    for (const configuration of [status?.configuration, spec?.configuration]) {
      const { name, source } = configuration ?? {};
      if (name === undefined || name === "" || !Array.isArray(source)) continue;
      sources.set(
        name,
        source.flatMap((one: { readonly name?: string }) => one.name ?? []),
      );
    }
  }
  return sources;
}

/** Reports whether a MachineConfig has the form of ovn-offload's names. */
function isOffloadConfigName(name: string): boolean {
  return name.startsWith("99-") && name.endsWith("-ovn-hw-offload");
}

function isApplied(node: ObservedNode, report: NodeReport | undefined, sources: HostStateSources["sources"]) {
  const current = node.metadata.annotations?.[annotations.currentMachineConfig];
  const byDaemon = report?.openVSwitchDisabled === true;
  if (current === undefined) return byDaemon ? true : report?.isCurrent === true ? false : undefined;
  const names = sources.get(current);
  if (names === undefined) return byDaemon ? true : undefined;
  return byDaemon || names.some(isOffloadConfigName);
}

interface Mode {
  readonly current?: string;
  readonly powerCycleRequired?: boolean;
  readonly unavailable?: string;
}

function modeProblem(mode: Mode | undefined): string | undefined {
  if (mode?.current === "embedded-cpu" || mode?.current === "restricted") return undefined;
  if (mode?.powerCycleRequired === true) {
    return `the SmartNIC changes from mode ${mode.current ?? "unknown"} to embedded-cpu: switch the host off and on again`;
  }
  if (mode?.unavailable !== undefined) return `the mode of the SmartNIC is not available: ${mode.unavailable}`;
  if (mode?.current === undefined) return "the config daemon has not reported the mode of the SmartNIC yet";
  return `the SmartNIC is in mode ${mode.current}; the config daemon must change it to embedded-cpu`;
}
