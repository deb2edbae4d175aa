// SPDX-License-Identifier: Apache-2.0
/** Steps that change Open vSwitch bridges of PFs. */
import type { OvsBridgeConfig, OvsInterfaceConfig } from "@switchyard/api";
import { changesNoVf, disruptsNothing, existingVfs, isNeededByNone, type PfStepKind } from "./step-kind.ts";

/** Creates an Open vSwitch bridge, or changes it in place, and makes the PF its uplink. */
interface SetOvsBridge {
  readonly kind: "set-ovs-bridge";
  readonly pciAddress: string;
  readonly bridge: string;
  readonly settings: OvsBridgeConfig;
  /** Settings of the interface of the PF. */
  readonly uplink: OvsInterfaceConfig;
  /** What differs: the bridge does not exist, its datapath or the type of the uplink differs, or only settings differ. */
  readonly change: "create" | "datapath" | "settings";
}

const setOvsBridge: PfStepKind<SetOvsBridge> = {
  describe: ({ pciAddress, bridge, change }) =>
    `${change === "create" ? "create" : "change"} Open vSwitch bridge ${bridge} with uplink ${pciAddress}`,
  // A bridge that is missing although VFs exist was removed by somebody: pods must be attached to the new bridge again. A
  // PF without VFs has no such pods (sriov-operator.md M-46).
  disruption({ bridge, change }, { numVfs = 0 }) {
    if (numVfs === 0 || change === "settings") return undefined;
    const text =
      change === "create"
        ? `creating bridge ${bridge} requires that pods attach ${existingVfs(numVfs)} to it again`
        : `changing the datapath of bridge ${bridge} interrupts ${existingVfs(numVfs)}`;
    return { cause: "bridge", text };
  },
  isNeededBy: isNeededByNone,
  changedVfs: changesNoVf,
};

/** Removes an Open vSwitch bridge that Switchyard created for the PF, with all ports. */
interface RemoveOvsBridge {
  readonly kind: "remove-ovs-bridge";
  readonly pciAddress: string;
  readonly bridge: string;
  /** The eswitch mode of the PF changes afterwards, which must not happen while Open vSwitch uses the PF. */
  readonly isBeforeModeChange?: true;
}

const removeOvsBridge: PfStepKind<RemoveOvsBridge> = {
  describe: ({ pciAddress, bridge }) => `remove Open vSwitch bridge ${bridge} of ${pciAddress}`,
  disruption({ bridge }, { numVfs = 0 }) {
    if (numVfs === 0) return undefined;
    return { cause: "bridge", text: `removing bridge ${bridge} disconnects ${existingVfs(numVfs)}` };
  },
  isNeededBy: ({ isBeforeModeChange = false }) => isBeforeModeChange,
  changedVfs: changesNoVf,
};

/**
 * Removes ports from an Open vSwitch bridge that Switchyard created. These are ports whose network interface no longer exists,
 * during a boot those of former pods, and the uplink before a change of the eswitch mode.
 */
interface RemoveOvsPorts {
  readonly kind: "remove-ovs-ports";
  readonly pciAddress: string;
  readonly bridge: string;
  readonly ports: readonly string[];
  /** As for remove-ovs-bridge. */
  readonly isBeforeModeChange?: true;
}

const removeOvsPorts: PfStepKind<RemoveOvsPorts> = {
  describe: ({ bridge, ports }) => `remove ports ${ports.join(", ")} from Open vSwitch bridge ${bridge}`,
  disruption: disruptsNothing,
  isNeededBy: ({ isBeforeModeChange = false }) => isBeforeModeChange,
  changedVfs: changesNoVf,
};

/** The kinds of this subject by their names. */
export const ovsBridgeSteps = {
  "set-ovs-bridge": setOvsBridge,
  "remove-ovs-bridge": removeOvsBridge,
  "remove-ovs-ports": removeOvsPorts,
};
