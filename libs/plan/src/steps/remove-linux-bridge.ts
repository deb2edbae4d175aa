// SPDX-License-Identifier: Apache-2.0
import { existingVfs, type PfStepKind } from "./step-kind.ts";

/** Removes a Linux bridge that Switchyard created for the PF. Its ports become independent. */
export interface RemoveLinuxBridge {
  readonly kind: "remove-linux-bridge";
  readonly pciAddress: string;
  readonly bridge: string;
}

export const removeLinuxBridge: PfStepKind<RemoveLinuxBridge> = {
  describe: ({ pciAddress, bridge }) => `remove Linux bridge ${bridge} of ${pciAddress}`,
  disruption({ bridge }, { numVfs = 0 }) {
    if (numVfs === 0) return undefined;
    return { cause: "bridge", text: `removing bridge ${bridge} disconnects ${existingVfs(numVfs)}` };
  },
  // The eswitch must not change its mode while the PF is a port.
  isNeededBy: (_step, { kind }) => kind === "set-eswitch-mode" || kind === "set-linux-bridge",
};
