// SPDX-License-Identifier: Apache-2.0
import { existingVfs, type PfStepKind } from "./step-kind.ts";

export type EswitchMode = "legacy" | "switchdev";

/**
 * Changes the mode of the card's embedded switch, and waits for the representors of the VFs. VFs lose their drivers, which
 * later steps bind again.
 */
export interface SetEswitchMode {
  readonly kind: "set-eswitch-mode";
  readonly pciAddress: string;
  readonly from: EswitchMode;
  readonly to: EswitchMode;
  /** Number of VFs that are created again if the driver refuses the mode; absent if it is the present number. */
  readonly restoreNumVfs?: number;
  /** The mode is left only while the number of VFs changes. */
  readonly isTemporary?: true;
}

export const setEswitchMode: PfStepKind<SetEswitchMode> = {
  describe: ({ pciAddress, from, to }) => `set eswitch mode ${from} -> ${to} on ${pciAddress}`,
  disruption({ from, to, isTemporary }, { numVfs = 0 }) {
    if (numVfs === 0 || isTemporary === true) return undefined;
    const text = `changing the eswitch mode from ${from} to ${to} interrupts ${existingVfs(numVfs)}`;
    return { cause: "eSwitchMode", text };
  },
  // VFs, representors and bridges depend on the mode.
  isNeededBy: () => true,
};
