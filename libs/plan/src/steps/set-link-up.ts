// SPDX-License-Identifier: Apache-2.0
import { disruptsNothing, isNeededByNone, type PfStepKind } from "./step-kind.ts";

/** Sets the PF's link up. */
export interface SetLinkUp {
  readonly kind: "set-link-up";
  readonly pciAddress: string;
}

export const setLinkUp: PfStepKind<SetLinkUp> = {
  describe: ({ pciAddress }) => `set link up on ${pciAddress}`,
  disruption: disruptsNothing,
  isNeededBy: isNeededByNone,
};
