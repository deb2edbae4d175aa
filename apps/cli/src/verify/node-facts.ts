// SPDX-License-Identifier: Apache-2.0
/** What nodes offer to pods of a network, and what these pods should have, from the objects of the cluster. */
import type { SriovNetworkNodeState, VfGroup } from "@switchyard/api";
import type { Snapshot } from "../diagnosis/snapshot.ts";
import { listAt, textAt } from "../json.ts";
import type { NodeExpectation } from "./judge-pod.ts";
import type { CandidateNode, LeftOutNode } from "./plan-pods.ts";
import type { Taint } from "./render-pod.ts";

export interface Candidates {
  /** Sorted by name. */
  readonly nodes: readonly CandidateNode[];
  readonly leftOut: readonly LeftOutNode[];
}

/** The nodes that offer the resource, or whose policies give it to them. `only` are names; none means all. */
export function candidatesFor(snapshot: Snapshot, resource: string, only: readonly string[]): Candidates {
  const requested = new Map<string, number>();
  for (const { node, requests } of snapshot.pods) {
    if (node !== undefined) requested.set(node, (requested.get(node) ?? 0) + (requests.get(resource) ?? 0));
  }
  const wanting = new Set(snapshot.states.filter((state) => groupsOf(state, resource).length > 0).map(nameOf));
  const found = [...snapshot.nodes]
    .filter(([name, { allocatable }]) => wanting.has(name) || (allocatable?.get(resource) ?? 0) > 0)
    .filter(([name]) => only.length === 0 || only.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const unready = found.filter(([, { readySince }]) => readySince === undefined);
  return {
    nodes: found
      .filter(([, { readySince }]) => readySince !== undefined)
      .map(([name, { allocatable }]) => {
        const all = allocatable?.get(resource) ?? 0;
        return { name, allocatable: all, free: all - (requested.get(name) ?? 0) };
      }),
    leftOut: unready.map(([node]) => ({ node, isProblem: true, text: `node ${node} is not Ready` })),
  };
}

/** What pods on a node should have. */
export function expectationFor(
  state: SriovNetworkNodeState | undefined,
  { resource, vlan }: Pick<NodeExpectation, "resource" | "vlan">,
): NodeExpectation {
  const groups = state === undefined ? [] : groupsOf(state, resource);
  const mtus = new Set(groups.map(({ mtu = 0 }) => mtu));
  const [mtu = 0] = mtus;
  return {
    resource,
    vlan,
    // Two policies of one resource can have different MTUs; which of their VFs a pod has is not known.
    mtu: mtus.size === 1 && mtu > 0 ? mtu : undefined,
    isRdma: groups.some(({ isRdma }) => isRdma === true),
    rdmaMode: state?.spec?.system?.rdmaMode || undefined,
  };
}

/** The VLAN that the PF has assigned to a VF, as the config daemon has seen it. */
export function vlanOfVf(state: SriovNetworkNodeState | undefined, pciAddress: string | undefined): number | undefined {
  const vfs = (state?.status?.interfaces ?? []).flatMap(({ Vfs = [] }) => Vfs);
  const vf = vfs.find((each) => each.pciAddress === pciAddress);
  return vf === undefined ? undefined : (vf.Vlan ?? 0);
}

export function taintsOf(snapshot: Snapshot, node: string): readonly Taint[] {
  const object = snapshot.objectsOf("Node").find(({ name }) => name === node)?.object;
  return listAt(object, "spec", "taints").flatMap((taint) => {
    const [key, effect] = [textAt(taint, "key"), textAt(taint, "effect")];
    return key === undefined || effect === undefined ? [] : [{ key, effect }];
  });
}

/** The image of the config daemon: it contains Node.js, and is on the nodes already. */
export function daemonImage(snapshot: Snapshot): string | undefined {
  const daemon = snapshot.objectsOf("DaemonSet").find(({ name }) => name === "sriov-network-config-daemon");
  const containers = listAt(daemon?.object, "spec", "template", "spec", "containers");
  const container = containers.find((each) => textAt(each, "name") === "sriov-network-config-daemon");
  return textAt(container, "image");
}

function groupsOf({ spec }: SriovNetworkNodeState, resource: string): readonly VfGroup[] {
  const name = resource.slice(resource.indexOf("/") + 1);
  const groups = (spec?.interfaces ?? []).flatMap(({ vfGroups = [] }) => vfGroups);
  return groups.filter(({ resourceName }) => resourceName === name);
}

function nameOf({ metadata }: SriovNetworkNodeState): string {
  return metadata.name;
}
