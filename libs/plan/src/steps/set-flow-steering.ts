// SPDX-License-Identifier: Apache-2.0
import { disruptsNothing, isNeededByNone, type PfStepKind } from "./step-kind.ts";

/** Lets the driver instead of the firmware write the flow tables, which is many times faster (mlx5_core). */
export interface SetFlowSteering {
  readonly kind: "set-flow-steering";
  readonly pciAddress: string;
  readonly from: string;
  readonly to: "smfs";
}

export const setFlowSteering: PfStepKind<SetFlowSteering> = {
  describe: ({ pciAddress, from, to }) => `set flow_steering_mode ${from} -> ${to} on ${pciAddress}`,
  disruption: disruptsNothing, // no VF exists when it runs
  isNeededBy: isNeededByNone,
};
