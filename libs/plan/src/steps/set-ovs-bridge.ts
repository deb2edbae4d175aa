// SPDX-License-Identifier: Apache-2.0
import type { OvsBridgeConfig, OvsInterfaceConfig } from "@switchyard/api";
import { existingVfs, isNeededByNone, type PfStepKind } from "./step-kind.ts";

/** Creates an Open vSwitch bridge, or changes it in place, and makes the PF its uplink. */
export interface SetOvsBridge {
  readonly kind: "set-ovs-bridge";
  readonly pciAddress: string;
  readonly bridge: string;
  readonly settings: OvsBridgeConfig;
  /** Settings of the interface of the PF. */
  readonly uplink: OvsInterfaceConfig;
  /** What differs: the bridge does not exist, its datapath or the type of the uplink differs, or only settings differ. */
  readonly change: "create" | "datapath" | "settings";
}

export const setOvsBridge: PfStepKind<SetOvsBridge> = {
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
};
