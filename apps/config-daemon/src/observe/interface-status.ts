// SPDX-License-Identifier: Apache-2.0
/**
 * toInterfaceStatus converts what is known about one PF to an entry of SriovNetworkNodeState.status.interfaces
 * (sriov-operator.md A.5, F.3). All functions of this file are pure.
 * Usage: `toInterfaceStatus({ pf, links, eSwitchMode, speedMbps, record })`.
 */
import { defined, type InterfaceStatus, type VfStatus } from "@switchyard/api";
import type { EswitchMode, Link, PfFacts, PfRecord, VfFacts } from "@switchyard/host";

/** Everything that is known about one PF. */
export interface PfObservation {
  readonly pf: PfFacts;
  /** All links of the host. */
  readonly links: LinksByDevice;
  readonly eSwitchMode: EswitchMode | undefined;
  readonly speedMbps: number | undefined;
  readonly record: PfRecord | undefined;
}

/** Links by the PCI address of their device. A PF in switchdev mode has its own link and its representors. */
export type LinksByDevice = ReadonlyMap<string, readonly Link[]>;

export function groupByDevice(links: readonly Link[]): LinksByDevice {
  const byDevice = new Map<string, Link[]>();
  for (const link of links) {
    if (link.parent?.bus !== "pci") continue;
    const group = byDevice.get(link.parent.name);
    if (group === undefined) byDevice.set(link.parent.name, [link]);
    else group.push(link);
  }
  return byDevice;
}

/** Returns the link of the port itself: in switchdev mode the one named p<N>, otherwise the first. */
export function uplinkOf(links: readonly Link[]): Link | undefined {
  const uplink = links.find((link) => link.physSwitchId !== undefined && /^p\d+$/.test(link.physPortName ?? ""));
  return uplink ?? links[0];
}

export function toInterfaceStatus({ pf, links, eSwitchMode, speedMbps, record }: PfObservation): InterfaceStatus {
  const { pciAddress, driver, vendor, deviceId, sriov } = pf;
  const ofPf = links.get(pciAddress) ?? [];
  const uplink = uplinkOf(ofPf);
  const vfs = sriov?.vfs.map((vf) => toVfStatus(vf, links, ofPf, uplink)) ?? [];
  return {
    pciAddress,
    ...(uplink && linkFields(uplink)),
    vendor,
    deviceID: deviceId,
    ...defined({
      driver,
      linkSpeed: speedMbps === undefined ? undefined : `${speedMbps} Mb/s`,
      totalvfs: sriov?.totalVfs,
      numVfs: sriov?.numVfs,
      eSwitchMode: sriov && (eSwitchMode ?? "legacy"),
      Vfs: vfs.length === 0 ? undefined : vfs,
    }),
    ...(record && isSameCard(record, pf) && recordFields(record, uplink)),
  };
}

function linkFields({ name, mac, mtu, maxMtu, type, adminUp, altNames }: Link): Partial<InterfaceStatus> {
  return {
    ...{ name, mac, mtu, linkAdminState: adminUp ? "up" : "down" },
    ...defined({
      maxMtu,
      linkType: type === "other" ? undefined : linkTypes[type],
      altNames: altNames.length === 0 ? undefined : altNames,
    }),
  };
}

const linkTypes = { ether: "ETH", infiniband: "IB" } as const;

function toVfStatus(vf: VfFacts, links: LinksByDevice, ofPf: readonly Link[], uplink: Link | undefined): VfStatus {
  const link = links.get(vf.pciAddress)?.[0];
  const onPf = uplink?.vfs.find(({ vfId }) => vfId === vf.vfId);
  const representor = ofPf.find(({ physPortName }) => new RegExp(`^pf\\d+vf${vf.vfId}$`).test(physPortName ?? ""));
  return {
    pciAddress: vf.pciAddress,
    vfID: vf.vfId,
    vendor: vf.vendor,
    deviceID: vf.deviceId,
    ...defined({
      name: link?.name,
      mac: link?.mac,
      mtu: link?.mtu,
      adminMac: onPf?.mac,
      adminGuid: onPf?.guid,
      Vlan: onPf?.vlan === 0 ? undefined : onPf?.vlan,
      driver: vf.driver,
      representorName: representor?.name,
    }),
  };
}

/** Returns the name and the alternative names of an interface. */
export function allNamesOf({ name, altNames = [] }: Pick<InterfaceStatus, "name" | "altNames">): readonly string[] {
  return name === undefined || name === "" ? altNames : [name, ...altNames];
}

/** Reports whether the record belongs to the card that is in the slot now. */
export function isSameCard({ card }: PfRecord, pf: { readonly vendor: string; readonly deviceId: string }): boolean {
  return card === undefined || card === `${pf.vendor}:${pf.deviceId}`;
}

function recordFields(
  { spec, initial, names, numVfsWithoutMemory }: PfRecord,
  uplink: Link | undefined,
): Partial<InterfaceStatus> {
  const recorded = names ?? (spec.name ? [spec.name] : []);
  const current = uplink === undefined ? [] : allNamesOf(uplink);
  const recordedNames = recorded.filter((name) => !current.includes(name));
  return {
    owned: true,
    ...defined({
      recordedNames: recordedNames.length === 0 ? undefined : recordedNames,
      externallyManaged: spec.externallyManaged === true ? true : undefined,
      initialMtu: initial?.mtu,
      numVfsWithoutMemory,
    }),
  };
}
