// SPDX-License-Identifier: Apache-2.0
/**
 * The firmware settings of a Mellanox (NVIDIA) card in SriovNetworkNodeState.status.interfaces (sriov-operator.md F.8). The
 * plan compares current, next and requested values, so it needs all of them.
 */

/**
 * Firmware settings of a Mellanox (NVIDIA) card that limit its VFs and decide the link type of its ports. NUM_OF_VFS and
 * SRIOV_EN belong to the card, so all its ports report the same values.
 */
export interface FirmwareStatus {
  /** Number of VFs of each port (NUM_OF_VFS). */
  readonly numVfs?: FirmwareNumber;
  /** Whether SR-IOV is enabled (SRIOV_EN). */
  readonly sriovEnabled?: FirmwareFlag;
  /** Link type of this port (LINK_TYPE_P1, LINK_TYPE_P2). Absent if the card cannot change it. */
  readonly linkType?: FirmwareText;
  /** Values that Switchyard changed, as they were before. They are restored when no policy selects the card any longer. */
  readonly initial?: FirmwareInitial;
  /** Whether Switchyard may reset the card to make changed values effective. Otherwise the node is rebooted. */
  readonly resetAllowed?: boolean;
  /** Why the settings cannot be read or changed. Absent if they can. */
  readonly unavailable?: string;
}

/** A firmware setting that is a number. */
export interface FirmwareNumber {
  /**
   * Value that the firmware uses.
   * @asType integer
   */
  readonly current?: number;
  /**
   * Value that the firmware uses after the next reset of the card.
   * @asType integer
   */
  readonly next?: number;
}

/** A firmware setting that is on or off. */
export interface FirmwareFlag {
  /** Value that the firmware uses. */
  readonly current?: boolean;
  /** Value that the firmware uses after the next reset of the card. */
  readonly next?: boolean;
}

/** A firmware setting that is a text. */
export interface FirmwareText {
  /** Value that the firmware uses: ETH, IB or VPI. */
  readonly current?: string;
  /** Value that the firmware uses after the next reset of the card. */
  readonly next?: string;
}

/** Values of firmware settings before Switchyard changed them. */
export interface FirmwareInitial {
  /**
   * Number of VFs of each port (NUM_OF_VFS).
   * @asType integer
   */
  readonly numVfs?: number;
  /** Whether SR-IOV was enabled (SRIOV_EN). */
  readonly sriovEnabled?: boolean;
  /** Link type of this port: ETH, IB or VPI. */
  readonly linkType?: string;
}

/**
 * The mode of a SmartNIC (NVIDIA BlueField) in SriovNetworkNodeState.status.interfaces (smartnic.md 7.1). The plan
 * compares current, next and requested mode.
 * Mode of a SmartNIC. embedded-cpu: its own processors control the network of the host. restricted: the same, and the
 * host may not change the card. separated-host: processors and host are equal users of the card. nic: the processors
 * are switched off. unknown: the firmware's settings fit none of them.
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
