// SPDX-License-Identifier: Apache-2.0
import { existingVfs, type PfStepKind } from "./step-kind.ts";

/** Removes an Open vSwitch bridge that Switchyard created for the PF, with all ports. */
export interface RemoveOvsBridge {
  readonly kind: "remove-ovs-bridge";
  readonly pciAddress: string;
  readonly bridge: string;
  /** The eswitch mode of the PF changes afterwards, which must not happen while Open vSwitch uses the PF. */
  readonly isBeforeModeChange?: true;
}

export const removeOvsBridge: PfStepKind<RemoveOvsBridge> = {
  describe: ({ pciAddress, bridge }) => `remove Open vSwitch bridge ${bridge} of ${pciAddress}`,
  disruption({ bridge }, { numVfs = 0 }) {
    if (numVfs === 0) return undefined;
    return { cause: "bridge", text: `removing bridge ${bridge} disconnects ${existingVfs(numVfs)}` };
  },
  isNeededBy: ({ isBeforeModeChange = false }) => isBeforeModeChange,
};
