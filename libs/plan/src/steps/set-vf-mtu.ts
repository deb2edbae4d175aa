// SPDX-License-Identifier: Apache-2.0
import { disruptsNothing, isNeededByNone, vfOf, type PfStepKind } from "./step-kind.ts";

/** Sets the MTU in bytes of a VF's interface. */
export interface SetVfMtu {
  readonly kind: "set-vf-mtu";
  readonly pciAddress: string;
  readonly vfId: number;
  /** Absent if the VF does not exist yet. */
  readonly from?: number;
  readonly to: number;
}

export const setVfMtu: PfStepKind<SetVfMtu> = {
  describe: (step) => `set mtu ${step.from === undefined ? "" : `${step.from} -> `}${step.to} on ${vfOf(step)}`,
  disruption: disruptsNothing, // no pod uses a VF whose network interface is visible on the host
  isNeededBy: isNeededByNone,
};
