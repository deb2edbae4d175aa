// SPDX-License-Identifier: Apache-2.0
/** Steps that change Linux bridges of PFs. */
import type { LinuxBridgeConfig } from "@switchyard/api";
import { changesNoVf, existingVfs, isNeededByNone, type PfStepKind } from "./step-kind.ts";

/** Creates a Linux bridge, or changes it in place, and makes the PF its uplink. */
interface SetLinuxBridge {
  readonly kind: "set-linux-bridge";
  readonly pciAddress: string;
  readonly bridge: string;
  readonly vlans: Required<LinuxBridgeConfig>;
  /** Settings of the PF as a port, by the names of files in /sys/class/net/PF/brport. */
  readonly port: Readonly<Record<string, number>>;
  /** What differs: the bridge does not exist, its VLAN settings differ, or anything else differs. */
  readonly change: "create" | "vlans" | "settings";
}

const setLinuxBridge: PfStepKind<SetLinuxBridge> = {
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
  changedVfs: changesNoVf,
};

/** Removes a Linux bridge that Switchyard created for the PF. Its ports become independent. */
interface RemoveLinuxBridge {
  readonly kind: "remove-linux-bridge";
  readonly pciAddress: string;
  readonly bridge: string;
}

const removeLinuxBridge: PfStepKind<RemoveLinuxBridge> = {
  describe: ({ pciAddress, bridge }) => `remove Linux bridge ${bridge} of ${pciAddress}`,
  disruption({ bridge }, { numVfs = 0 }) {
    if (numVfs === 0) return undefined;
    return { cause: "bridge", text: `removing bridge ${bridge} disconnects ${existingVfs(numVfs)}` };
  },
  // The eswitch must not change its mode while the PF is a port.
  isNeededBy: (_step, { kind }) => kind === "set-eswitch-mode" || kind === "set-linux-bridge",
  changedVfs: changesNoVf,
};

/** The kinds of this subject by their names. */
export const linuxBridgeSteps = {
  "set-linux-bridge": setLinuxBridge,
  "remove-linux-bridge": removeLinuxBridge,
};
