// SPDX-License-Identifier: Apache-2.0
import { disruptsNothing, type PfStepKind } from "./step-kind.ts";

/**
 * Checks that the PF has an embedded switch, and turns on hw-tc-offload, without which the switch would forward nothing in
 * hardware. It runs before anything else changes, so a PF without an embedded switch stays as it is.
 */
export interface PrepareSwitchdev {
  readonly kind: "prepare-switchdev";
  readonly pciAddress: string;
}

export const prepareSwitchdev: PfStepKind<PrepareSwitchdev> = {
  describe: ({ pciAddress }) => `turn on hw-tc-offload on ${pciAddress}`,
  disruption: disruptsNothing,
  isNeededBy: () => true,
};
