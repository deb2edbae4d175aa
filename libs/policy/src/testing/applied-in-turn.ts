// SPDX-License-Identifier: Apache-2.0
/**
 * appliedInTurn is a second, slow implementation of the merge, to compare mergePolicies with. It follows the text of
 * sriov-operator.md B.4, B.6 literally: policy by policy over one growing list, with sets of VFs instead of ranges.
 */
import type { InterfaceStatus, SriovNetworkNodePolicy } from "@switchyard/api";
import { matchesNic } from "../nics/nic-selector.ts";
import { priorityOf } from "../order.ts";

/** Returns spec.interfaces for a node in zone "a". All policies must be for switchdev, netdevice and valid ranges. */
export function appliedInTurn(
  all: readonly SriovNetworkNodePolicy[],
  nics: readonly InterfaceStatus[],
): readonly unknown[] {
  interface Group {
    resourceName: string;
    vfs: Set<number>;
    text: string;
    policyName: string;
    mtu: number;
  }
  const list: { nic: InterfaceStatus; numVfs: number; mtu: number; groups: Group[] }[] = [];
  const order = [...all].sort((a, b) => priorityOf(b) - priorityOf(a) || (a.metadata.name < b.metadata.name ? -1 : 1));
  let previous = 100;
  for (const { metadata, spec } of order.filter((one) => one.spec.nodeSelector["zone"] !== "b")) {
    const equal = previous === spec.priority;
    for (const nic of nics.filter((one) => spec.numVfs > 0 && matchesNic(spec.nicSelector, one))) {
      const entry = spec.nicSelector.pfNames?.find((text) => {
        return [nic.name, ...(nic.altNames ?? [])].includes(text.split("#")[0] ?? "");
      });
      const text = entry?.split("#")[1] ?? `0-${spec.numVfs - 1}`;
      const [first = 0, last = 0] = text.split("-").map(Number);
      const vfs = new Set(Array.from({ length: last - first + 1 }, (_, i) => first + i));
      const { resourceName, mtu = 0 } = spec;
      const next = {
        nic,
        numVfs: spec.numVfs,
        mtu,
        groups: [{ resourceName, vfs, text, policyName: metadata.name, mtu }],
      };
      const place = list.findIndex((one) => one.nic === nic);
      const old = list[place];
      const kept =
        old?.groups.filter((one) => one.resourceName !== resourceName && [...one.vfs].every((vf) => !vfs.has(vf))) ??
        [];
      next.groups.push(...kept);
      if (old !== undefined && (equal || kept.length > 0)) {
        next.numVfs = Math.max(next.numVfs, old.numVfs);
        next.mtu = Math.max(next.mtu, old.mtu);
      }
      list.splice(old === undefined ? list.length : place, 1, next);
    }
    previous = spec.priority ?? 0;
  }
  return list.map(({ nic, numVfs, mtu, groups }) => ({
    pciAddress: nic.pciAddress,
    numVfs,
    ...(mtu > 0 && { mtu }),
    name: nic.name,
    eSwitchMode: "switchdev",
    vfGroups: groups.map((group) => ({
      resourceName: group.resourceName,
      deviceType: "netdevice",
      vfRange: group.text,
      policyName: group.policyName,
      ...(group.mtu > 0 && { mtu: group.mtu }),
    })),
  }));
}
