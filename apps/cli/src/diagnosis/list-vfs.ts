// SPDX-License-Identifier: Apache-2.0
/** listVfs returns each VF of a cluster with its settings, its policy and resource, and the pod and the claim that have it. */
import {
  defined,
  type InterfaceStatus,
  type SriovNetworkNodeState,
  type VfGroup,
  type VfStatus,
} from "@switchyard/api";
import { holderOf, includesVf, parseVfRange, type HeldVfs } from "@switchyard/policy";
import type { Flags } from "../flags.ts";
import type { Snapshot } from "./snapshot.ts";
import { findHolders, type Holders } from "./vf-holders.ts";

/** One VF. Absent fields are unknown, or the VF has no such property. */
export interface VfRow {
  readonly node: string;
  /** Name of the PF's network interface. */
  readonly pf?: string;
  readonly pfAddress: string;
  readonly vf: number;
  readonly address: string;
  readonly driver?: string;
  /** Name of the VF's network interface on the host; absent while it is in a pod. */
  readonly name?: string;
  /** The address that the PF has assigned, or that of the network interface. */
  readonly mac?: string;
  readonly vlan?: number;
  readonly mtu?: number;
  readonly representor?: string;
  readonly vdpa?: string;
  /** Administrative state of the PF's link: up or down. */
  readonly link?: string;
  readonly policy?: string;
  /** Name of the resource without prefix. */
  readonly resource?: string;
  /** The ResourceClaim that has the VF: "apps/nic". */
  readonly claim?: string;
  /** The pod that has the VF: "apps/client-0". */
  readonly pod?: string;
  /** How that is known: the status of the node, in which the daemon reports what the kubelet says, that of Multus, or a ResourceClaim. */
  readonly podFrom?: "network-status" | "resource-claim" | "node-state";
  /**
   * Pods that have some VF of this resource on the node, and of which no source says which one. Only on VFs without a
   * known pod.
   */
  readonly possiblePods?: readonly string[];
}

/** What a user wants to see of all VFs. */
type VfFilter = Pick<Flags, "node" | "resource" | "pod" | "resourcePrefix">;

/** Sorted by node, PF and VF. */
export function listVfs(snapshot: Snapshot): readonly VfRow[] {
  const holdersOf = findHolders(snapshot);
  return snapshot.states
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap((state) => {
      const holders = holdersOf(state.metadata.name);
      return (state.status?.interfaces ?? []).flatMap((nic) => rowsOf(nic, { state, holders }));
    });
}

interface OfNode {
  readonly state: SriovNetworkNodeState;
  readonly holders: Holders;
}

function rowsOf(nic: InterfaceStatus, { state, holders }: OfNode): readonly VfRow[] {
  const spec = state.spec?.interfaces?.find(({ pciAddress }) => pciAddress === nic.pciAddress);
  const groups = (spec?.vfGroups ?? []).flatMap((group) => {
    const range = parseVfRange(group.vfRange ?? "");
    return range.ok ? [{ group, range: range.value }] : [];
  });
  return (nic.Vfs ?? []).map((vf) => {
    const group = groups.find(({ range }) => includesVf(range, vf.vfID))?.group;
    return {
      node: state.metadata.name,
      pfAddress: nic.pciAddress,
      vf: vf.vfID,
      address: vf.pciAddress,
      ...settingsOf(vf, nic),
      ...defined({ policy: group?.policyName, resource: group?.resourceName }),
      ...claimOf(vf, holders),
      ...podOf(vf, group, { status: state.status ?? {}, holders }),
    };
  });
}

function settingsOf(vf: VfStatus, nic: InterfaceStatus) {
  const { driver, name, mtu, representorName: representor, vdpaType: vdpa } = vf;
  const isAssigned = vf.adminMac !== undefined && !/^[0:]+$/.test(vf.adminMac);
  const mac = isAssigned ? vf.adminMac : vf.mac;
  const [pf, link, vlan] = [nic.name, nic.linkAdminState, vf.Vlan];
  return defined({ pf, driver, name, mac, vlan, mtu, representor, vdpa, link });
}

/** What the daemon has seen on the node counts more than the allocation, which can be newer. */
function claimOf({ claim, pciAddress }: VfStatus, { claims }: Holders): Pick<VfRow, "claim"> {
  return defined({ claim: claim === undefined ? claims.get(pciAddress) : `${claim.namespace}/${claim.name}` });
}

function podOf(
  vf: VfStatus,
  group: VfGroup | undefined,
  { status, holders }: { readonly status: HeldVfs; readonly holders: Holders },
): Pick<VfRow, "pod" | "podFrom" | "possiblePods"> {
  const holder = holderOf(status, vf);
  if (typeof holder === "object") return { pod: `${holder.namespace}/${holder.name}`, podFrom: "node-state" };
  if (holder === "free") return {};
  const known = holders.byAddress.get(vf.pciAddress);
  if (known !== undefined) return known;
  if (vf.assigned) return { pod: vf.assigned, podFrom: "node-state" };
  if (claimOf(vf, holders).claim !== undefined) return {};
  const possible = holders.unplaced.get(group?.resourceName ?? "") ?? [];
  return possible.length === 0 ? {} : { possiblePods: possible };
}

/** A pod is given as NAME or NAMESPACE/NAME; a resource with or without its prefix. */
export function isWanted({ node, resource, pod, possiblePods = [] }: VfRow, flags: VfFilter): boolean {
  const pods = pod === undefined ? possiblePods : [pod];
  return (
    (flags.node === undefined || flags.node === node) &&
    (flags.resource === undefined || flags.resource.replace(`${flags.resourcePrefix}/`, "") === resource) &&
    (flags.pod === undefined || pods.some((name) => name === flags.pod || name.endsWith(`/${flags.pod ?? ""}`)))
  );
}

export interface VfChange {
  /** As events of a watch are called. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** Of a deleted VF, its last row. */
  readonly vf: VfRow;
}

/**
 * vfChanges compares two lists of VFs. Changed and new VFs in the order of `after`, then deleted ones in the order of `before`.
 */
export function vfChanges(before: readonly VfRow[], after: readonly VfRow[]): readonly VfChange[] {
  const known = new Map(before.map((row) => [keyOf(row), row]));
  const kept = new Set(after.map(keyOf));
  return [
    ...after.flatMap((vf): readonly VfChange[] => {
      const old = known.get(keyOf(vf));
      if (old === undefined) return [{ type: "ADDED", vf }];
      return JSON.stringify(old) === JSON.stringify(vf) ? [] : [{ type: "MODIFIED", vf }];
    }),
    ...before.filter((row) => !kept.has(keyOf(row))).map((vf) => ({ type: "DELETED" as const, vf })),
  ];
}

function keyOf({ node, pfAddress, vf }: VfRow): string {
  return `${node}\n${pfAddress}\n${vf}`;
}
