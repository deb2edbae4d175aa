// SPDX-License-Identifier: Apache-2.0
import type { CardModeValues } from "../card-mode.ts";
import type { StepKind } from "./step-kind.ts";

/** Changes the mode of one port of a SmartNIC (NVIDIA BlueField). It takes effect when the host is switched off and on again. */
export interface SetCardMode {
  readonly kind: "set-card-mode";
  /** PCI address of the port. Each port has a mode of its own. */
  readonly port: string;
  readonly to: "embedded-cpu";
  /** The firmware settings that lead to the mode. */
  readonly values: CardModeValues;
}

export const setCardMode: StepKind<SetCardMode> = {
  describe({ port, to, values }) {
    const settings = Object.entries(values).map(([name, value]) => `${name}=${value}`);
    return `set card mode ${to} of ${port} (${settings.join(" ")}), in effect after a power cycle of the host`;
  },
};
