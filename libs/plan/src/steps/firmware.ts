// SPDX-License-Identifier: Apache-2.0
/** Steps that change the firmware settings and the mode of cards. */
import { defined } from "@switchyard/api";
import type { CardModeValues } from "../card-mode.ts";
import { disruptsNoPod, disruptsPods, type NodeStepKind } from "./step-kind.ts";

/** The firmware settings that a step can change. 1 is InfiniBand and 2 is Ethernet for a link type. */
export interface FirmwareChange {
  readonly NUM_OF_VFS?: number;
  readonly SRIOV_EN?: number;
  readonly LINK_TYPE_P1?: number;
  readonly LINK_TYPE_P2?: number;
}

/** Changes firmware settings of a Mellanox card. They take effect after a reset of the card or a reboot of the node. */
export interface SetFirmware {
  readonly kind: "set-firmware";
  /** PCI address without the function, which all ports have in common: "0000:3b:00". */
  readonly card: string;
  /** PCI address of the port through which the card is accessed. */
  readonly through: string;
  readonly values: FirmwareChange;
  /** Whether the values are those from before Switchyard changed them. */
  readonly restores?: boolean;
}

const setFirmware: NodeStepKind<SetFirmware> = {
  describe: ({ card, values }) => `set ${formatFirmwareChange(values)} in the firmware of card ${card}`,
  disrupts: disruptsNoPod,
  refusedFor: "node",
};

/** Returns "NUM_OF_VFS=32 SRIOV_EN=1". */
export function formatFirmwareChange(values: FirmwareChange): string {
  const { NUM_OF_VFS, SRIOV_EN, LINK_TYPE_P1, LINK_TYPE_P2 } = values;
  const set = Object.entries(defined({ NUM_OF_VFS, SRIOV_EN, LINK_TYPE_P1, LINK_TYPE_P2 }));
  return set.map(([name, value]) => `${name}=${value}`).join(" ");
}

/**
 * Resets a Mellanox card, so that changed firmware settings take effect without a reboot. All its ports lose their VFs and
 * their link for some seconds.
 */
export interface ResetFirmware {
  readonly kind: "reset-firmware";
  /** PCI address without the function, which all ports have in common: "0000:3b:00". */
  readonly card: string;
  /** PCI addresses of the ports of the card. Their VFs are removed first. */
  readonly ports: readonly string[];
}

const resetFirmware: NodeStepKind<ResetFirmware> = {
  describe: ({ card }) => `reset the firmware of card ${card}`,
  disrupts: disruptsPods,
  refusedFor: "pfs",
};

/** Changes the mode of one port of a SmartNIC (NVIDIA BlueField). It takes effect when the host is switched off and on again. */
interface SetCardMode {
  readonly kind: "set-card-mode";
  /** PCI address of the port. Each port has a mode of its own. */
  readonly port: string;
  readonly to: "embedded-cpu";
  /** The firmware settings that lead to the mode. */
  readonly values: CardModeValues;
}

const setCardMode: NodeStepKind<SetCardMode> = {
  describe({ port, to, values }) {
    const settings = Object.entries(values).map(([name, value]) => `${name}=${value}`);
    return `set card mode ${to} of ${port} (${settings.join(" ")}), in effect after a power cycle of the host`;
  },
  disrupts: disruptsNoPod,
  refusedFor: "node",
};

/** The kinds of this subject by their names. */
export const firmwareSteps = {
  "set-firmware": setFirmware,
  "reset-firmware": resetFirmware,
  "set-card-mode": setCardMode,
};
