// SPDX-License-Identifier: Apache-2.0
/** Nodes that offer fewer devices than they have VFs, VFs that no policy selects, and VFs with one MAC address. */
import { isUnicast, parseMacAddress, type InterfaceSpec, type SriovNetworkNodeState } from "@switchyard/api";
import { countVfsIn, mergePolicies, parseVfRange } from "@switchyard/policy";
import { listAt } from "../../json.ts";
import { findingOf, type Finding } from "../finding.ts";
import type { Snapshot } from "../snapshot.ts";

export function findDevices(snapshot: Snapshot): readonly Finding[] {
  return [
    ...snapshot.states.flatMap((state) => [...staleResources(state, snapshot), ...leftovers(state, snapshot)]),
    ...equalMacs(snapshot),
  ];
}

/** One finding for each node that has an address of a node before it, or VFs of one PF with one address. */
function equalMacs({ states, namespace }: Snapshot): readonly Finding[] {
  const first = new Map<string, { readonly node: string; readonly vf: string; readonly pf: string }>();
  return states.flatMap((state): readonly Finding[] => {
    const { name } = state.metadata;
    const shared: { readonly mac: string; readonly vf: string; readonly other: string }[] = [];
    for (const { mac, vf, pf } of macsOf(state)) {
      const known = first.get(mac);
      if (known === undefined) first.set(mac, { node: name, vf, pf });
      else if (known.node !== name) shared.push({ mac, vf, other: `${known.vf} of node ${known.node}` });
      // Bonds give VFs of several PFs one address.
      else if (known.pf === pf) shared.push({ mac, vf, other: known.vf });
    }
    const [example, ...others] = shared;
    if (example === undefined) return [];
    const more =
      others.length === 0
        ? ""
        : others.length === 1
          ? ", and so has 1 other VF"
          : `, and so have ${others.length} other VFs`;
    return [
      findingOf("EqualVfMacs", {
        object: { kind: "SriovNetworkNodeState", namespace, name },
        field: "status.interfaces",
        message: `${example.vf} has the MAC address ${example.mac} of ${example.other}${more}`,
      }),
    ];
  });
}

/** A zero address says that none is assigned. */
function macsOf({
  status,
}: SriovNetworkNodeState): readonly { readonly mac: string; readonly vf: string; readonly pf: string }[] {
  return (status?.interfaces ?? []).flatMap(({ pciAddress, Vfs: vfs = [] }) =>
    vfs.flatMap(({ vfID, adminMac, mac = "" }) => {
      const parsed = [adminMac ?? "", mac].map(parseMacAddress).find((each) => each.ok && isUnicast(each.value));
      return parsed?.ok === true ? [{ mac: parsed.value, vf: `VF ${vfID} of ${pciAddress}`, pf: pciAddress }] : [];
    }),
  );
}

/** Only for nodes that are configured: before, their VFs change. The condition DevicePluginConfigured says it better. */
function staleResources(state: SriovNetworkNodeState, snapshot: Snapshot): readonly Finding[] {
  const { name } = state.metadata;
  const allocatable = snapshot.nodes.get(name)?.allocatable;
  const isSettled = state.status?.syncStatus === "Succeeded" && !hasDevicePluginCondition(state);
  if (allocatable === undefined || !isSettled) return [];
  return [...expected(state.spec?.interfaces ?? [])].flatMap(([resource, count]) => {
    const full = `${snapshot.resourcePrefix}/${resource}`;
    const offered = allocatable.get(full) ?? 0;
    if (offered >= count) return [];
    return [
      findingOf("DevicePluginStale", {
        object: { kind: "Node", name },
        field: `status.allocatable["${full}"]`,
        message: `the node offers ${offered} of "${full}", and its node state has ${count} VFs for it`,
        values: { operatorNamespace: snapshot.namespace },
      }),
    ];
  });
}

function hasDevicePluginCondition(state: SriovNetworkNodeState): boolean {
  return listAt(state, "status", "conditions").some(
    (condition) =>
      typeof condition === "object" &&
      condition !== null &&
      Reflect.get(condition, "type") === "DevicePluginConfigured",
  );
}

/** VFs by resource. VFs with a vDPA device count the same. */
function expected(interfaces: readonly InterfaceSpec[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { vfGroups = [] } of interfaces) {
    for (const { resourceName, vfRange = "" } of vfGroups) {
      const range = parseVfRange(vfRange);
      if (!resourceName || !range.ok) continue;
      counts.set(resourceName, (counts.get(resourceName) ?? 0) + countVfsIn(range.value));
    }
  }
  return counts;
}

function leftovers(state: SriovNetworkNodeState, snapshot: Snapshot): readonly Finding[] {
  const { name } = state.metadata;
  if (!snapshot.isKnown("SriovNetworkNodePolicy")) return [];
  // The spec may be older than the policies: the operator may be down or late.
  const node = snapshot.cluster.nodes.find(({ metadata }) => metadata.name === name);
  const merged = node && mergePolicies(node, state.status?.interfaces ?? [], snapshot.rules).spec;
  const wanted = [...(state.spec?.interfaces ?? []), ...(merged?.interfaces ?? [])];
  const selected = new Set(wanted.map(({ pciAddress }) => pciAddress));
  return (state.status?.interfaces ?? []).flatMap((nic, index) => {
    const { pciAddress, numVfs = 0, externallyManaged } = nic;
    if (numVfs === 0 || externallyManaged === true || selected.has(pciAddress)) return [];
    if (state.spec?.unselected?.includes(pciAddress) === true) return []; // about to be removed
    return [
      findingOf("VfsWithoutPolicy", {
        object: { kind: "SriovNetworkNodeState", namespace: snapshot.namespace, name },
        field: `status.interfaces[${index}].numVfs`,
        message: `PF ${nic.name ?? ""} ${pciAddress} has ${numVfs} VFs, and no policy selects it`,
      }),
    ];
  });
}
