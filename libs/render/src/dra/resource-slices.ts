// SPDX-License-Identifier: Apache-2.0
/**
 * renderResourceSlices renders the ResourceSlices by which the driver offers the VFs of one node to claims. Only VFs of a resource are
 * offered, as with a device plugin.
 *
 * A VF that claims must not have now is left out if another process may give it to pods, so that it is never offered twice. Otherwise
 * it stays, with a taint that says why: claims that already have it need its entry, and users see the reason. The scheduler says
 * "cannot allocate all claims" in both cases (Kubernetes 1.36).
 *
 * The result depends on the input only. Each slice has devices of one PF where possible, so that a change of a VF changes one slice.
 * The generation is 1; who writes the slices raises it when the set or the content changes.
 */
import {
  draDriverName,
  taints as taintKeys,
  type Device,
  type DeviceTaint,
  type ResourceSlice,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { includesVf, parseVfRange, type DraWithheldReason } from "@switchyard/policy";
import { attributesOf, type PublishedVf } from "./device-attributes.ts";
import { deviceNameOf } from "./device-names.ts";

export interface WithheldFromClaims {
  readonly reason: DraWithheldReason;
  /** A sentence for logs and reports. */
  readonly message: string;
}

export interface ResourceSlicesInput {
  readonly nodeName: string;
  readonly nodeUid: string;
  readonly state: SriovNetworkNodeState;
  readonly resources: {
    /** Prefix of resource names, without the slash. */
    readonly prefix: string;
  };
  /** By the PCI address of the VF. */
  readonly withheld: ReadonlyMap<string, WithheldFromClaims>;
  /** More taints, by the PCI address of a VF, or of a PF for all of its VFs. */
  readonly taints: ReadonlyMap<string, readonly DeviceTaint[]>;
}

/** The API server allows 128, but only this number if one of them has a taint, which can come at any time. */
const devicesPerSlice = 64;

/** Limit of the API server for the taints of a device. */
const taintsPerDevice = 16;

export function renderResourceSlices(input: ResourceSlicesInput): ResourceSlice[] {
  const { nodeName, nodeUid } = input;
  const chunks = toChunks([...Map.groupBy(vfsOf(input.state), ({ nic }) => nic.pciAddress).values()], input);
  return chunks.map((devices, index) => ({
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: {
      name: sliceName(nodeName, index),
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: nodeName, uid: nodeUid, controller: true }],
    },
    spec: {
      driver: draDriverName,
      nodeName,
      pool: { name: nodeName, generation: 1, resourceSliceCount: chunks.length },
      devices,
    },
  }));
}

/** Whether a VF that is withheld for this reason is left out of the slices. Otherwise it has a taint. */
const leftOut: Readonly<Record<DraWithheldReason, boolean>> = {
  held: true,
  offered: true,
  "unknown-holder": true,
  published: true,
  moving: false,
  draining: false,
  changing: false,
  stale: false,
  "not-configured": false,
  "no-interface": false,
  "no-bridge": false,
  "bridge-down": false,
  unclean: false,
};

/** Returns the name of a slice: names of nodes have as many characters as those of slices can have. */
function sliceName(nodeName: string, index: number): string {
  return `${nodeName.slice(0, 240).replace(/[.-]+$/, "")}-sriov-${index}`;
}

/** Returns the VFs that belong to a resource, by PF and index, each once. */
function vfsOf({ spec, status }: SriovNetworkNodeState): readonly PublishedVf[] {
  const groupsOf = new Map((spec?.interfaces ?? []).map(({ pciAddress, vfGroups }) => [pciAddress, vfGroups ?? []]));
  // By the spec, so that a PF that is gone changes no rail of the others.
  const rails = [...groupsOf]
    .filter(([, groups]) => groups.some(({ resourceName }) => resourceName))
    .map(([pciAddress]) => pciAddress)
    .sort();
  const seen = new Set<string>();
  const nics = (status?.interfaces ?? []).toSorted((a, b) => (a.pciAddress < b.pciAddress ? -1 : 1));
  return nics.flatMap((nic) => {
    const groups = (groupsOf.get(nic.pciAddress) ?? []).flatMap((group) => {
      const range = parseVfRange(group.vfRange ?? "");
      return group.resourceName && range.ok ? [{ group, range: range.value }] : [];
    });
    return (nic.Vfs ?? [])
      .toSorted((a, b) => a.vfID - b.vfID)
      .flatMap((vf) => {
        const group = groups.find(({ range }) => includesVf(range, vf.vfID))?.group;
        if (group === undefined || seen.has(vf.pciAddress)) return [];
        seen.add(vf.pciAddress);
        return [{ nic, vf, group, rail: rails.indexOf(nic.pciAddress) }];
      });
  });
}

/** Returns the devices of each slice. What fills no slice alone is put where it still fits, the largest part first. */
function toChunks(
  pfs: readonly (readonly PublishedVf[])[],
  input: ResourceSlicesInput,
): readonly (readonly Device[])[] {
  const full: Device[][] = [];
  const parts: Device[][] = [];
  for (const vfs of pfs) {
    const devices = vfs.flatMap((vf) => toDevice(vf, input));
    for (let start = 0; start < devices.length; start += devicesPerSlice) {
      const chunk = devices.slice(start, start + devicesPerSlice);
      (chunk.length === devicesPerSlice ? full : parts).push(chunk);
    }
  }
  const mixed: Device[][] = [];
  for (const part of parts.toSorted((a, b) => b.length - a.length)) {
    const place = mixed.find((chunk) => chunk.length + part.length <= devicesPerSlice);
    if (place === undefined) mixed.push([...part]);
    else place.push(...part);
  }
  return [...full, ...mixed];
}

function toDevice(published: PublishedVf, { resources, withheld, taints }: ResourceSlicesInput): readonly Device[] {
  const { nic, vf } = published;
  const name = deviceNameOf(vf.pciAddress);
  const reason = withheld.get(vf.pciAddress)?.reason;
  if (name === undefined || (reason !== undefined && leftOut[reason])) return [];
  const own: DeviceTaint = { key: taintKeys.vfWithheld, effect: "NoSchedule", ...(reason && { value: reason }) };
  const all = [
    ...(reason === undefined ? [] : [own]),
    ...(taints.get(vf.pciAddress) ?? []),
    ...(taints.get(nic.pciAddress) ?? []),
  ].slice(0, taintsPerDevice);
  return [{ name, attributes: attributesOf(published, resources.prefix), ...(all.length > 0 && { taints: all }) }];
}
