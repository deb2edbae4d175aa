// SPDX-License-Identifier: Apache-2.0
import { disruptsNothing, type PfStepKind } from "./step-kind.ts";

/**
 * Removes ports from an Open vSwitch bridge that Switchyard created: ports whose network interface no longer exists, or the
 * uplink before a change of the eswitch mode.
 */
export interface RemoveOvsPorts {
  readonly kind: "remove-ovs-ports";
  readonly pciAddress: string;
  readonly bridge: string;
  readonly ports: readonly string[];
  /** As for remove-ovs-bridge. */
  readonly isBeforeModeChange?: true;
}

export const removeOvsPorts: PfStepKind<RemoveOvsPorts> = {
  describe: ({ bridge, ports }) => `remove ports ${ports.join(", ")} from Open vSwitch bridge ${bridge}`,
  disruption: disruptsNothing,
  isNeededBy: ({ isBeforeModeChange = false }) => isBeforeModeChange,
};
