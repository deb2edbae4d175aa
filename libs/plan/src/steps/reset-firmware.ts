// SPDX-License-Identifier: Apache-2.0
import type { StepKind } from "./step-kind.ts";

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

export const resetFirmware: StepKind<ResetFirmware> = {
  describe: ({ card }) => `reset the firmware of card ${card}`,
};
