// SPDX-License-Identifier: Apache-2.0
/**
 * One PF of the host as SriovNetworkNodeState.status.interfaces shows it (sriov-operator.md A.5, F.3). Pure.
 * Usage: `toInterfaceStatus({ pf, links, eSwitchMode, speedMbps, record })`.
 */
import type { InterfaceStatus, VfStatus } from "@switchyard/api";
import type { EswitchMode, Link, PfFacts, PfRecord, VfFacts } from "@switchyard/host";

/** All that is known of one PF. */
export interface PfObservation {
  readonly pf: PfFacts;
  /** Links of the host by the PCI address that they belong to. */
  readonly links: LinksByDevice;
  readonly eSwitchMode: EswitchMode | undefined;
  readonly speedMbps: number | undefined;
  readonly record: PfRecord | undefined;
}

/** Links by PCI address of their device; a PF in switchdev mode has its representors beside it. */
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

/** The port itself among the links of a PF: in switchdev mode the one named p<N>, else the first. */
export function uplinkOf(links: readonly Link[]): Link | undefined {
  const uplink = links.find((link) => link.physSwitchId !== undefined && /^p\d+$/.test(link.physPortName ?? ""));
  return uplink ?? links[0];
}

export function toInterfaceStatus({ pf, links, eSwitchMode, speedMbps, record }: PfObservation): InterfaceStatus {
  const ofPf = links.get(pf.pciAddress) ?? [];
  const uplink = uplinkOf(ofPf);
  return {
    pciAddress: pf.pciAddress,
    ...(uplink === undefined ? {} : linkFields(uplink)),
    ...(pf.driver === undefined ? {} : { driver: pf.driver }),
    vendor: pf.vendor,
    deviceID: pf.deviceId,
    ...(speedMbps === undefined ? {} : { linkSpeed: `${speedMbps} Mb/s` }),
    ...(pf.sriov === undefined
      ? {}
      : {
          totalvfs: pf.sriov.totalVfs,
          numVfs: pf.sriov.numVfs,
          eSwitchMode: eSwitchMode ?? "legacy",
          ...(pf.sriov.vfs.length === 0 ? {} : { Vfs: pf.sriov.vfs.map((vf) => toVfStatus(vf, links, ofPf, uplink)) }),
        }),
    ...(record === undefined || !isAbout(record, pf) ? {} : recordFields(record, uplink)),
  };
}

function linkFields(uplink: Link): Partial<InterfaceStatus> {
  return {
    name: uplink.name,
    mac: uplink.mac,
    mtu: uplink.mtu,
    ...(uplink.maxMtu === undefined ? {} : { maxMtu: uplink.maxMtu }),
    ...(uplink.type === "ether" ? { linkType: "ETH" } : uplink.type === "infiniband" ? { linkType: "IB" } : {}),
    linkAdminState: uplink.adminUp ? "up" : "down",
    ...(uplink.altNames.length === 0 ? {} : { altNames: uplink.altNames }),
  };
}

function toVfStatus(vf: VfFacts, links: LinksByDevice, ofPf: readonly Link[], uplink: Link | undefined): VfStatus {
  const link = links.get(vf.pciAddress)?.[0];
  const asPfSeesIt = uplink?.vfs.find(({ vfId }) => vfId === vf.vfId);
  const representor = ofPf.find(({ physPortName }) => new RegExp(`^pf\\d+vf${vf.vfId}$`).test(physPortName ?? ""));
  return {
    pciAddress: vf.pciAddress,
    vfID: vf.vfId,
    ...(link === undefined ? {} : { name: link.name, mac: link.mac, mtu: link.mtu }),
    ...(asPfSeesIt === undefined ? {} : { adminMac: asPfSeesIt.mac }),
    ...(asPfSeesIt === undefined || asPfSeesIt.vlan === 0 ? {} : { Vlan: asPfSeesIt.vlan }),
    ...(vf.driver === undefined ? {} : { driver: vf.driver }),
    vendor: vf.vendor,
    deviceID: vf.deviceId,
    ...(representor === undefined ? {} : { representorName: representor.name }),
  };
}

/** Names and alternative names of an interface. */
export function allNamesOf({ name, altNames = [] }: Pick<InterfaceStatus, "name" | "altNames">): readonly string[] {
  return name === undefined || name === "" ? altNames : [name, ...altNames];
}

/** Whether the record is of the card that is in the slot now. */
export function isAbout({ card }: PfRecord, pf: { readonly vendor: string; readonly deviceId: string }): boolean {
  return card === undefined || card === `${pf.vendor}:${pf.deviceId}`;
}

function recordFields({ spec, initial, names }: PfRecord, uplink: Link | undefined): Partial<InterfaceStatus> {
  const recorded = names ?? (spec.name ? [spec.name] : []);
  const current = uplink === undefined ? [] : allNamesOf(uplink);
  const recordedNames = recorded.filter((name) => !current.includes(name));
  return {
    owned: true,
    ...(recordedNames.length === 0 ? {} : { recordedNames }),
    ...(spec.externallyManaged === true ? { externallyManaged: true } : {}),
    ...(initial?.mtu === undefined ? {} : { initialMtu: initial.mtu }),
  };
}
