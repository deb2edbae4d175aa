// SPDX-License-Identifier: Apache-2.0
import { existingVfs, type PfStepKind } from "./step-kind.ts";

/** Removes an Open vSwitch bridge that Switchyard created for the PF, with all ports. */
export interface RemoveOvsBridge {
  readonly kind: "remove-ovs-bridge";
  readonly pciAddress: string;
  readonly bridge: string;
}

export const removeOvsBridge: PfStepKind<RemoveOvsBridge> = {
  describe: ({ pciAddress, bridge }) => `remove Open vSwitch bridge ${bridge} of ${pciAddress}`,
  disruption({ bridge }, { numVfs = 0 }) {
    if (numVfs === 0) return undefined;
    return { cause: "bridge", text: `removing bridge ${bridge} disconnects ${existingVfs(numVfs)}` };
  },
  // The eswitch must not change its mode while Open vSwitch uses the port.
  isNeededBy: (_step, { kind }) => kind === "set-eswitch-mode",
};
