// SPDX-License-Identifier: Apache-2.0
import type { LinuxBridgeConfig } from "@switchyard/api";
import { existingVfs, isNeededByNone, type PfStepKind } from "./step-kind.ts";

/** Creates a Linux bridge, or changes it in place, and makes the PF its uplink. */
export interface SetLinuxBridge {
  readonly kind: "set-linux-bridge";
  readonly pciAddress: string;
  readonly bridge: string;
  readonly vlans: Required<LinuxBridgeConfig>;
  /** Settings of the PF as a port, by the names of files in /sys/class/net/PF/brport. */
  readonly port: Readonly<Record<string, number>>;
  /** What differs: the bridge does not exist, its VLAN settings differ, or anything else differs. */
  readonly change: "create" | "vlans" | "settings";
}

export const setLinuxBridge: PfStepKind<SetLinuxBridge> = {
  describe: ({ pciAddress, bridge, change }) =>
    `${change === "create" ? "create" : "change"} Linux bridge ${bridge} with uplink ${pciAddress}`,
  // A bridge that is missing although VFs exist was removed by somebody: pods must be attached to the new bridge again.
  disruption({ bridge, change }, { numVfs = 0 }) {
    if (numVfs === 0 || change === "settings") return undefined;
    const text =
      change === "create"
        ? `creating bridge ${bridge} requires that pods attach ${existingVfs(numVfs)} to it again`
        : `changing the VLAN settings of bridge ${bridge} interrupts ${existingVfs(numVfs)}`;
    return { cause: "bridge", text };
  },
  isNeededBy: isNeededByNone,
};
