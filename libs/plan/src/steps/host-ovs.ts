// SPDX-License-Identifier: Apache-2.0
/** Steps that change the Open vSwitch service of the host. */
import type { StepKind } from "./step-kind.ts";

/** Writes or removes the files that disable Open vSwitch on the host. They take effect at the next boot. */
export interface SetHostOvs {
  readonly kind: "set-host-ovs";
  readonly to: "disabled" | "enabled";
}

export const setHostOvs: StepKind<SetHostOvs> = {
  describe: ({ to }) =>
    to === "disabled"
      ? "write the files that disable Open vSwitch on the host"
      : "remove the files that disable Open vSwitch on the host",
};

/** Configures hardware offload in Open vSwitch. It takes effect when ovs-vswitchd is restarted. */
export interface SetOvsOffload {
  readonly kind: "set-ovs-offload";
}

export const setOvsOffload: StepKind<SetOvsOffload> = {
  describe: () => "set other_config:hw-offload of Open vSwitch",
};

/** Restarts ovs-vswitchd, so that hardware offload takes effect. */
export interface RestartOvs {
  readonly kind: "restart-ovs";
}

export const restartOvs: StepKind<RestartOvs> = {
  describe: () => "restart ovs-vswitchd",
};
