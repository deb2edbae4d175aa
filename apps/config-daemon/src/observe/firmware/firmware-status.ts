// SPDX-License-Identifier: Apache-2.0
/**
 * toFirmwareStatus converts the firmware settings of a Mellanox card to the status of one of its ports. It is a pure
 * function.
 */
import { defined, type FirmwareInitial, type FirmwareStatus } from "@switchyard/api";
import type { FirmwareRecord, FirmwareSetting, FirmwareSettings, PfRecord } from "@switchyard/host";

export interface FirmwareObservation {
  readonly settings: FirmwareSettings;
  readonly record: PfRecord | undefined;
  readonly resetAllowed: boolean;
}

export function toFirmwareStatus(pciAddress: string, observation: FirmwareObservation): FirmwareStatus {
  const { settings, record, resetAllowed } = observation;
  const typeName = pciAddress.endsWith(".1") ? "LINK_TYPE_P2" : "LINK_TYPE_P1";
  const numVfs = settings.get("NUM_OF_VFS");
  const sriovEnabled = settings.get("SRIOV_EN");
  const linkType = settings.get(typeName);
  return defined({
    numVfs: numVfs && valuesOf(numVfs, (value) => value),
    sriovEnabled: sriovEnabled && valuesOf(sriovEnabled, (value) => value === 1),
    linkType: linkType && valuesOf(linkType, linkTypeName),
    initial: initialOf(settings, record?.firmware ?? {}, typeName),
    resetAllowed: resetAllowed ? true : undefined,
    unavailable: reasonOfMode(settings),
  });
}

function valuesOf<Value>({ current, next }: FirmwareSetting, convert: (value: number) => Value) {
  return defined({
    current: current === undefined ? undefined : convert(current),
    next: next === undefined ? undefined : convert(next),
  });
}

function linkTypeName(value: number): string {
  return linkTypes[value] ?? String(value);
}

const linkTypes: Readonly<Record<number, string>> = { 1: "IB", 2: "ETH", 3: "VPI" };

/** Returns the recorded values of settings that still have the value that Switchyard set: nobody else has changed them. */
function initialOf(
  settings: FirmwareSettings,
  records: Readonly<Record<string, FirmwareRecord>>,
  typeName: string,
): FirmwareInitial | undefined {
  const before = (name: string): number | undefined => {
    const record = records[name];
    if (record === undefined || record.before === record.after) return undefined;
    return settings.get(name)?.next === record.after ? record.before : undefined;
  };
  const enabled = before("SRIOV_EN");
  const type = before(typeName);
  const initial: FirmwareInitial = defined({
    numVfs: before("NUM_OF_VFS"),
    sriovEnabled: enabled === undefined ? undefined : enabled === 1,
    linkType: type === undefined ? undefined : linkTypeName(type),
  });
  return Object.keys(initial).length === 0 ? undefined : initial;
}

/**
 * A BlueField whose own system owns the embedded switch (DPU mode) refuses changes from the host. Both are enabled while
 * their number is 0 (smartnic.md 7.1). The other settings of the mode are not valid in all generations.
 */
function reasonOfMode(settings: FirmwareSettings): string | undefined {
  const valueOf = (name: string): number | undefined => settings.get(name)?.current ?? settings.get(name)?.next;
  if (valueOf("INTERNAL_CPU_MODEL") !== 1) return undefined; // no BlueField, or separated host mode
  const engine = valueOf("INTERNAL_CPU_OFFLOAD_ENGINE");
  if (engine === undefined) {
    return "the mode of this BlueField card is unknown: the firmware settings do not contain INTERNAL_CPU_OFFLOAD_ENGINE";
  }
  return engine === 0 ? "the card is in DPU mode, in which only the system on the card can change them" : undefined;
}
