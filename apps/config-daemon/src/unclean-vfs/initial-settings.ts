// SPDX-License-Identifier: Apache-2.0
/**
 * initialSettings records the settings of new VFs, and changedSettings compares VFs with them. A VF is recorded when the daemon has just
 * created it, or while no pod has it. It must have nothing then that only a CNI plugin or an administrator sets. All functions are pure.
 */
import {
  defined,
  type HoldersStatus,
  type InterfaceSpec,
  type InterfaceStatus,
  type UncleanSetting,
  type VfGroup,
  type VfStatus,
} from "@switchyard/api";
import type { InitialVf, PfRecord } from "@switchyard/host";
import { holderOf, includesVf, parseVfRange } from "@switchyard/policy";

/** The record of the VFs of a PF. */
type RecordedVfs = NonNullable<PfRecord["initialVfs"]>;

export interface RecordingOptions {
  /** As recorded before. VFs of an earlier boot are other VFs. */
  readonly recorded: RecordedVfs | undefined;
  readonly bootId: string;
  readonly holders: HoldersStatus | undefined;
  /** Whether the daemon has created the VFs since it looked last. */
  readonly areNew: boolean;
}

/** A VF that pods can get, with the group that it belongs to. */
export interface GroupedVf {
  readonly vf: VfStatus;
  readonly group: VfGroup;
}

/** Returns the VFs of the groups of the spec, which are those that pods can get. */
export function groupedVfs({ vfGroups = [] }: InterfaceSpec, { Vfs: vfs = [] }: InterfaceStatus): readonly GroupedVf[] {
  return vfGroups.flatMap((group) => {
    const range = parseVfRange(group.vfRange ?? "");
    return range.ok ? vfs.flatMap((vf) => (includesVf(range.value, vf.vfID) ? [{ vf, group }] : [])) : [];
  });
}

/** Returns what the record of a PF without steps must have; undefined if no VF is recorded. */
export function initialSettings(
  spec: InterfaceSpec,
  pf: InterfaceStatus,
  { recorded, bootId, holders, areNew }: RecordingOptions,
): RecordedVfs | undefined {
  if (spec.externallyManaged === true) return undefined;
  const known = recordedIn(recorded, bootId);
  const vfs: Record<string, InitialVf> = { ...known };
  for (const { vf, group } of groupedVfs(spec, pf)) {
    const isFree = holderOf(defined({ holders }), vf) === "free" || (areNew && vf.holder === undefined);
    if (known[vf.vfID] === undefined && isFree && looksNew(vf)) vfs[vf.vfID] = initialVf(vf, group);
  }
  return Object.keys(vfs).length === 0 ? undefined : { bootId, vfs };
}

/** Returns the recorded settings of the VFs of this boot by vfId. */
export function recordedIn(recorded: RecordedVfs | undefined, bootId: string): Readonly<Record<string, InitialVf>> {
  return recorded?.bootId === bootId ? recorded.vfs : {};
}

/** Returns what differs from the settings of the new VF. Settings of an interface that is not on the host are not known. */
export function changedSettings(initial: InitialVf, vf: VfStatus): readonly UncleanSetting[] {
  const hasInterface = Boolean(vf.name);
  const compared: readonly (readonly [name: string, value: Value, initial: Value])[] = [
    ["adminMac", vf.adminMac, initial.adminMac],
    ["Vlan", vf.Vlan ?? 0, 0],
    ["vlanQoS", vf.vlanQoS ?? 0, 0],
    ["vlanProto", vf.vlanProto ?? "802.1q", "802.1q"],
    ["spoofChk", vf.spoofChk ?? "on", initial.spoofChk ?? "on"],
    ["trust", vf.trust ?? "off", "off"],
    ["linkState", vf.linkState ?? "auto", "auto"],
    ["minTxRate", vf.minTxRate ?? 0, 0],
    ["maxTxRate", vf.maxTxRate ?? 0, 0],
    ["name", vf.name, initial.name],
    ["mac", vf.mac, initial.mac],
    ["mtu", vf.mtu, initial.mtu],
    ["promiscuous", vf.promiscuous ?? false, hasInterface ? false : undefined],
  ];
  return compared.flatMap(([name, value, wanted]) =>
    value === undefined || wanted === undefined || value === wanted
      ? []
      : [{ name, value: String(value).slice(0, maxText), initial: String(wanted).slice(0, maxText) }],
  );
}

type Value = string | number | boolean | undefined;

/** As in the CRD. */
const maxText = 64;

/** Reports whether the VF has none of the settings that a new VF never has. */
function looksNew(vf: VfStatus): boolean {
  const { Vlan, vlanQoS, vlanProto, trust, linkState, minTxRate, maxTxRate, promiscuous } = vf;
  return [Vlan, vlanQoS, vlanProto, trust, linkState, minTxRate, maxTxRate, promiscuous].every(
    (value) => value === undefined,
  );
}

/** The plan keeps the MTU of a VF whose group has one. */
function initialVf({ adminMac, spoofChk, name, mac, mtu }: VfStatus, { mtu: wantedMtu = 0 }: VfGroup): InitialVf {
  return defined({
    adminMac: isZero(adminMac) ? undefined : adminMac,
    spoofChk,
    name,
    mac,
    mtu: wantedMtu > 0 ? undefined : mtu,
  });
}

function isZero(mac: string | undefined): boolean {
  return mac !== undefined && /^[0:]+$/.test(mac);
}
