// SPDX-License-Identifier: Apache-2.0
/**
 * toInterfaceStatus converts what is known about one PF to an entry of SriovNetworkNodeState.status.interfaces
 * (sriov-operator.md A.5, F.3). All functions of this file are pure.
 * Usage: `toInterfaceStatus({ pf, links, eSwitchMode, speedMbps, record })`.
 */
import { defined, type InterfaceStatus, type VfStatus } from "@switchyard/api";
import type { EswitchMode, Link, PfFacts, PfRecord, VfFacts } from "@switchyard/host";
import { smartNicModelOf } from "@switchyard/policy";
import { isRepresentor, representorsOf } from "./representors.ts";
import { isSameCard } from "./same-card.ts";

/** Everything that is known about one PF. */
export interface PfObservation {
  readonly pf: PfFacts;
  /** All links of the host. */
  readonly links: LinksByDevice;
  readonly eSwitchMode: EswitchMode | undefined;
  readonly flowSteeringMode?: string | undefined;
  readonly speedMbps: number | undefined;
  readonly record: PfRecord | undefined;
}

/**
 * Links by the PCI address of their device; "" for virtual interfaces. A PF in switchdev mode has its own link and its
 * representors.
 */
export type LinksByDevice = ReadonlyMap<string, readonly Link[]>;

export function groupByDevice(links: readonly Link[]): LinksByDevice {
  const byDevice = new Map<string, Link[]>();
  for (const link of links) {
    const device = link.parent?.bus === "pci" ? link.parent.name : "";
    const group = byDevice.get(device);
    if (group === undefined) byDevice.set(device, [link]);
    else group.push(link);
  }
  return byDevice;
}

/**
 * Returns the link of the port itself: the one named p<N> if the driver has port names, otherwise the first that is not a
 * representor.
 */
export function uplinkOf(links: readonly Link[]): Link | undefined {
  const uplink = links.find((link) => link.physSwitchId !== undefined && /^p\d+$/.test(link.physPortName ?? ""));
  return uplink ?? links.find((link) => !isRepresentor(link));
}

export function toInterfaceStatus(observation: PfObservation): InterfaceStatus {
  const { pf, links, eSwitchMode, flowSteeringMode, speedMbps, record } = observation;
  const { pciAddress, driver, vendor, deviceId, sriov } = pf;
  const uplink = uplinkOf(links.get(pciAddress) ?? []);
  // In legacy mode, a port with such a name belongs to something else.
  const all = eSwitchMode === "switchdev" ? [...links.values()].flat() : [];
  const representors = representorsOf(all, uplink, pf);
  const vfs = sriov?.vfs.map((vf) => toVfStatus(vf, links, uplink, representors.get(vf.vfId))) ?? [];
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
      hasESwitch: sriov && eSwitchMode === undefined && !mayHaveEswitch(pf, uplink) ? false : undefined,
      flowSteeringMode,
      Vfs: vfs.length === 0 ? undefined : vfs,
    }),
    ...(record && isSameCard(record, pf) && recordFields(record, uplink)),
  };
}

/**
 * Whether a PF that reports no mode may have an eswitch: one without a driver, and one of mlx5_core, which knows the mode only while
 * VFs exist in older kernels (5.4). The eswitch of a BlueField belongs to the card's own system.
 */
function mayHaveEswitch({ driver, vendor, deviceId: deviceID, sriov }: PfFacts, uplink: Link | undefined): boolean {
  if (driver !== "mlx5_core") return driver === undefined;
  const isSmartNic = smartNicModelOf({ vendor, deviceID }) !== undefined;
  return sriov?.numVfs === 0 && uplink?.type !== "infiniband" && !isSmartNic;
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

function toVfStatus(
  vf: VfFacts,
  links: LinksByDevice,
  uplink: Link | undefined,
  representor: Link | undefined,
): VfStatus {
  const link = links.get(vf.pciAddress)?.[0];
  const onPf = uplink?.vfs.find(({ vfId }) => vfId === vf.vfId);
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

function recordFields(
  { spec, initial, names, numVfsWithoutMemory, fewerVfs }: PfRecord,
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
      fewerVfs,
      initialESwitchMode: initialModeOf({ spec, ...defined({ initial }) }),
    }),
  };
}

/** A record of the Go operator does not have the mode. Its daemon changes a card to switchdev, and resets it to legacy. */
function initialModeOf({ spec, initial }: PfRecord): string | undefined {
  return initial === undefined && spec.eSwitchMode === "switchdev" ? "legacy" : initial?.eSwitchMode;
}
