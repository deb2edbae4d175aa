// SPDX-License-Identifier: Apache-2.0
/**
 * The mode of a SmartNIC (NVIDIA BlueField) in SriovNetworkNodeState.status.interfaces (smartnic.md 7.1). The plan
 * compares current, next and requested mode.
 */

/**
 * Mode of a SmartNIC: its own processors control the network of the host (embedded-cpu); the same, and the host may not
 * change the card (restricted); processors and host are equal users of the card (separated-host); the processors are
 * switched off (nic); unknown if the firmware's settings fit none of them.
 */
export type CardMode = "embedded-cpu" | "restricted" | "separated-host" | "nic" | "unknown";

/** Mode of a SmartNIC. */
export interface CardModeStatus {
  /** Mode in which the card runs. */
  readonly current?: CardMode;
  /** Mode after the next power cycle of the host. */
  readonly next?: CardMode;
  /** Whether the host must be switched off and on again, because the mode has been changed. A reboot is not enough. */
  readonly powerCycleRequired?: boolean;
  /**
   * Why it is unknown whether the host may change the card. The mode can then be restricted where embedded-cpu is reported.
   * Absent if it is known.
   */
  readonly privilegeUnknown?: string;
  /** Why the mode cannot be read or changed. Absent if it can. */
  readonly unavailable?: string;
}
