// SPDX-License-Identifier: Apache-2.0
import { disruptsNothing, isNeededByNone, type PfStepKind } from "./step-kind.ts";

/** Removes the record that Switchyard configured the PF, after the PF was reset. */
export interface ReleasePf {
  readonly kind: "release-pf";
  readonly pciAddress: string;
}

export const releasePf: PfStepKind<ReleasePf> = {
  describe: ({ pciAddress }) => `release ${pciAddress}`,
  disruption: disruptsNothing,
  isNeededBy: isNeededByNone,
};
