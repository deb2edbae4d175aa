// SPDX-License-Identifier: Apache-2.0
import { defined } from "@switchyard/api";
import type { StepKind } from "./step-kind.ts";

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

export const setFirmware: StepKind<SetFirmware> = {
  describe: ({ card, values }) => `set ${formatFirmwareChange(values)} in the firmware of card ${card}`,
};

/** Returns "NUM_OF_VFS=32 SRIOV_EN=1". */
export function formatFirmwareChange(values: FirmwareChange): string {
  const { NUM_OF_VFS, SRIOV_EN, LINK_TYPE_P1, LINK_TYPE_P2 } = values;
  const set = Object.entries(defined({ NUM_OF_VFS, SRIOV_EN, LINK_TYPE_P1, LINK_TYPE_P2 }));
  return set.map(([name, value]) => `${name}=${value}`).join(" ");
}
