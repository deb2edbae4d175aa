// SPDX-License-Identifier: Apache-2.0
/**
 * toInterfaceStatus converts what is known about one PF to an entry of SriovNetworkNodeState.status.interfaces
 * (sriov-operator.md A.5, F.3). All functions of this file are pure.
 */
import { defined, type InterfaceStatus, type VfStatus } from "@switchyard/api";
import type { EswitchMode, Link, LinkVf, SysfsPf, PfRecord, SysfsVf } from "@switchyard/host";
import { smartNicModelOf } from "@switchyard/policy";
import { isSameCard } from "./same-card.ts";

/** Everything that is known about one PF. */
export interface PfObservation {
  readonly pf: SysfsPf;
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

/** Drivers that number PFs by the PCI function, whatever the number of the port (bnxt_vf_rep_get_phys_port_name, 6.12). */
const numberingByFunction: ReadonlySet<string | undefined> = new Set(["bnxt_en"]);

/** The PF whose representors are looked for. */
interface RepresentedPf {
  readonly pciAddress: string;
  readonly driver?: string | undefined;
}

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
export function uplinkAmong(links: readonly Link[]): Link | undefined {
  const uplink = links.find((link) => link.physSwitchId !== undefined && /^p\d+$/.test(link.physPortName ?? ""));
  return uplink ?? links.find((link) => !isRepresentor(link));
}

export function toInterfaceStatus(observation: PfObservation): InterfaceStatus {
  const { pf, links, eSwitchMode, flowSteeringMode, speedMbps, record } = observation;
  const { pciAddress, driver, vendor, deviceId, sriov, pcieRoot, numaNode } = pf;
  const uplink = uplinkAmong(links.get(pciAddress) ?? []);
  // In legacy mode, a port with such a name belongs to something else.
  const all = eSwitchMode === "switchdev" ? [...links.values()].flat() : [];
  const representors = representorsOf(all, uplink, pf);
  const unassigned = new Set(record && isSameCard(record, pf) ? record.unassignedMacs : []);
  const vfs =
    sriov?.vfs.map((vf) => {
      const status = toVfStatus(vf, links, uplink, representors.get(vf.vfId));
      // The address that the PF shows may be the VF's own.
      return unassigned.has(vf.vfId) && status.adminMac !== undefined ? { ...status, adminMac: noMac } : status;
    }) ?? [];
  return {
    pciAddress,
    ...(uplink && linkFields(uplink)),
    vendor,
    deviceID: deviceId,
    ...defined({
      driver,
      pcieRoot,
      numaNode,
      linkSpeed: speedMbps === undefined ? undefined : `${speedMbps} Mb/s`,
      totalvfs: sriov?.totalVfs,
      numVfs: sriov?.numVfs,
      eSwitchMode: sriov && (eSwitchMode ?? "legacy"),
      hasESwitch: sriov && eSwitchMode === undefined && !mayHaveEswitch(pf, uplink) ? false : undefined,
      flowSteeringMode,
      // An empty list says that VFs are enabled and that none has appeared.
      Vfs: vfs.length === 0 && (sriov?.numVfs ?? 0) === 0 ? undefined : vfs,
    }),
    ...(record && isSameCard(record, pf) && recordFields(record, uplink)),
  };
}

/**
 * Whether a PF that reports no mode may have an eswitch: one without a driver, and one of mlx5_core, which knows the mode only while
 * VFs exist in older kernels (5.4). The eswitch of a BlueField belongs to the card's own system.
 */
function mayHaveEswitch({ driver, vendor, deviceId: deviceID, sriov }: SysfsPf, uplink: Link | undefined): boolean {
  if (driver !== "mlx5_core") return driver === undefined;
  const isSmartNic = smartNicModelOf({ vendor, deviceID }) !== undefined;
  return sriov?.numVfs === 0 && uplink?.type !== "infiniband" && !isSmartNic;
}

function linkFields({ name, mac, mtu, maxMtu, type, adminUp, altNames }: Link): Partial<InterfaceStatus> {
  return {
    name,
    mac,
    mtu,
    linkAdminState: adminUp ? "up" : "down",
    ...defined({
      maxMtu,
      linkType: type === "other" ? undefined : linkTypes[type],
      altNames: altNames.length === 0 ? undefined : altNames,
    }),
  };
}

const noMac = "00:00:00:00:00:00";

const linkTypes = { ether: "ETH", infiniband: "IB" } as const;

function toVfStatus(
  vf: SysfsVf,
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
      ...(onPf && vfSettings(onPf)),
      promiscuous: link?.promiscuous === true ? true : undefined,
      driver: vf.driver,
      iommuGroupPeers: vf.iommuGroupPeers?.slice(0, maxGroupPeers),
      representorName: representor?.name,
    }),
  };
}

/** A group without ACS can contain all devices of a machine. */
const maxGroupPeers = 4;

/** Only what a new VF does not have, except for spoof checks: a node can have 256 VFs. */
function vfSettings(vf: LinkVf): { readonly [Name in keyof VfStatus]?: VfStatus[Name] | undefined } {
  const { vlan, vlanQos, vlanProtocol, spoofCheck, trust, linkState, minTxRate, maxTxRate } = vf;
  return {
    Vlan: vlan || undefined,
    vlanQoS: vlanQos || undefined,
    vlanProto: vlanProtocol === "802.1ad" ? vlanProtocol : undefined,
    spoofChk: spoofCheck === false ? "off" : undefined,
    trust: trust === true ? "on" : undefined,
    linkState: linkState === "auto" ? undefined : linkState,
    minTxRate: minTxRate || undefined,
    maxTxRate: maxTxRate || undefined,
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

/**
 * Returns the number of the PF in the port names of its representors ("pf1vf0"); undefined if it is not known.
 * mlx5_core and ice use the number of the port, which is in the name of the PF itself ("p1"). The number of the PCI
 * function differs in a virtual machine and on cards whose ports are devices of their own.
 */
export function pfNumberOf(uplink: Link | undefined, { pciAddress, driver }: RepresentedPf): number | undefined {
  if (numberingByFunction.has(driver)) return functionNumberOf(pciAddress);
  const [, port] = /^p(\d+)$/.exec(uplink?.physPortName ?? "") ?? [];
  return port === undefined ? undefined : Number(port);
}

/** Returns the number of the PCI function, which old drivers use that do not name the port of the PF. */
export function functionNumberOf(pciAddress: string): number {
  return Number.parseInt(pciAddress.slice(-1), 16);
}

/**
 * Finds the representors of the VFs of a PF. Their names say nothing: they are identified by phys_switch_id, which all ports of
 * one embedded switch share, and by phys_port_name (Linux, Documentation/networking/representors.rst). The driver numbers the PFs
 * of a card, which often share a switch. Returns the representors by the index of
 * their VF. A representor can be below another function of the card than its VF, so its port name decides: "pf1vf0", or
 * "p1pf0vf0" with the number of the port first (sfc). Ports of an external controller ("c1pf0vf3", on a SmartNIC) do not match.
 */
export function representorsOf(
  links: readonly Link[],
  uplink: Link | undefined,
  pf: RepresentedPf,
): ReadonlyMap<number, Link> {
  const found = new Map<number, Link>();
  if (uplink?.physSwitchId === undefined) return found;
  const pfNumber = pfNumberOf(uplink, pf) ?? functionNumberOf(pf.pciAddress);
  const ofSwitch = links.filter(({ physSwitchId }) => physSwitchId === uplink.physSwitchId);
  const samePort = functionsOnSamePort(uplink, ofSwitch);
  for (const link of ofSwitch) {
    const [, port, number, vf] = /^(?:c0)?(?:p(\d+))?pf(\d+)vf(\d+)$/.exec(link.physPortName ?? "") ?? [];
    if (vf === undefined) continue;
    const isOfPf = port === undefined ? Number(number) === pfNumber : `p${port}` === uplink.physPortName;
    if (isOfPf && !samePort.has(link.parent?.name)) found.set(Number(vf), link);
  }
  return found;
}

/** Returns the functions that share the port of the PF, and so its number. Their representors are below themselves. */
function functionsOnSamePort(uplink: Link, ofSwitch: readonly Link[]): ReadonlySet<string | undefined> {
  const samePort = ofSwitch.filter(
    ({ physPortName, parent }) =>
      physPortName !== undefined && physPortName === uplink.physPortName && parent?.name !== uplink.parent?.name,
  );
  return new Set(samePort.map(({ parent }) => parent?.name));
}

/** Reports whether the link is the port of a VF or a subfunction, and not of a PF itself. */
export function isRepresentor({ physPortName = "" }: Link): boolean {
  return /^(?:[cp]\d+)?pf\d+(?:vf|sf)\d+$/.test(physPortName);
}
