// SPDX-License-Identifier: Apache-2.0
import type { StepKind } from "./step-kind.ts";

/** Configures hardware offload in Open vSwitch. It takes effect when ovs-vswitchd is restarted. */
export interface SetOvsOffload {
  readonly kind: "set-ovs-offload";
}

export const setOvsOffload: StepKind<SetOvsOffload> = {
  describe: () => "set other_config:hw-offload of Open vSwitch",
};
