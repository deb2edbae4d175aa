// SPDX-License-Identifier: Apache-2.0
/**
 * Firmware is the port for the firmware settings of Mellanox (NVIDIA) cards. Linux has no interface for them: the vendor's
 * programs mstconfig, mstfwreset and mstprivhost access the card through its PCI configuration space (sriov-operator.md F.8,
 * smartnic.md 7). A call takes from hundreds of milliseconds to minutes, so nothing may wait for it without a limit.
 */
import type { PciAddress } from "@switchyard/api";

/** One firmware setting as numbers: `True(1)` is 1. A value is absent if the firmware does not report it as a number. */
export interface FirmwareSetting {
  readonly default?: number;
  /** The value with which the firmware runs. */
  readonly current?: number;
  /** The value that the firmware will have after the next reset of the card. */
  readonly next?: number;
}

/** The settings of a card by their exact names: "NUM_OF_VFS". */
export type FirmwareSettings = ReadonlyMap<string, FirmwareSetting>;

/** The settings of a BlueField that decide its mode (smartnic.md 7.1). */
export const cardModeSettingNames = [
  "INTERNAL_CPU_MODEL",
  "INTERNAL_CPU_PAGE_SUPPLIER",
  "INTERNAL_CPU_ESWITCH_MANAGER",
  "INTERNAL_CPU_IB_VPORT0",
  "INTERNAL_CPU_OFFLOAD_ENGINE",
] as const;

/** The settings that can be changed. Names and values become arguments of a program. */
export const firmwareSettingNames = [
  ...(["NUM_OF_VFS", "SRIOV_EN", "LINK_TYPE_P1", "LINK_TYPE_P2"] as const),
  ...cardModeSettingNames,
] as const;
export type FirmwareSettingName = (typeof firmwareSettingNames)[number];

/** The values to set. */
export type FirmwareValues = Readonly<Partial<Record<FirmwareSettingName, number>>>;

/** Returns "NUM_OF_VFS=16 SRIOV_EN=1". */
export function formatFirmwareValues(values: FirmwareValues): string {
  const set = firmwareSettingNames.filter((name) => values[name] !== undefined);
  return set.map((name) => `${name}=${values[name] ?? ""}`).join(" ");
}

/** Whether the host of a BlueField may change the card. Only the system on the card can change this level. */
export type HostPrivilege = "privileged" | "restricted";

/** A kernel in "integrity" or "confidentiality" mode denies access to the configuration space of cards. */
export type LockdownMode = "none" | "integrity" | "confidentiality";

/**
 * Rejects with HostError only: ENOENT if the program is not installed, ETIMEDOUT if it does not end, FIRMWARE_TOOL_FAILED
 * with its output in `words` if it fails, EBADMSG if its output is not understood.
 */
export interface Firmware {
  /** Returns the lockdown mode of the kernel; undefined if the kernel has no lockdown. */
  readLockdown(): Promise<LockdownMode | undefined>;
  /** Returns the settings of the card of this function. */
  readSettings(pf: PciAddress): Promise<FirmwareSettings>;
  /** Returns the privilege level of this host on its BlueField. */
  readPrivilege(pf: PciAddress): Promise<HostPrivilege>;
  /** Changes the next values. EINVAL if a value is not a whole number from 0 to 65535. */
  setValues(pf: PciAddress, values: FirmwareValues): Promise<void>;
  /**
   * Resets the card of this function with all its ports, so that the next values become current. The driver stays bound and
   * recovers. The card must not have VFs.
   */
  resetCard(pf: PciAddress): Promise<void>;
}
