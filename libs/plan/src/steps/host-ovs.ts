// SPDX-License-Identifier: Apache-2.0
/** Steps that change the Open vSwitch service of the host. */
import { disruptsNoPod, type NodeStepKind, type ObservedPfs } from "./step-kind.ts";

/** Writes or removes the files that disable Open vSwitch on the host. They take effect at the next boot. */
interface SetHostOvs {
  readonly kind: "set-host-ovs";
  readonly to: "disabled" | "enabled";
}

const setHostOvs: NodeStepKind<SetHostOvs> = {
  describe: ({ to }) =>
    to === "disabled"
      ? "write the files that disable Open vSwitch on the host"
      : "remove the files that disable Open vSwitch on the host",
  disrupts: disruptsNoPod,
  refusedFor: "node",
};

/** Configures hardware offload in Open vSwitch. It takes effect when ovs-vswitchd is restarted. */
interface SetOvsOffload {
  readonly kind: "set-ovs-offload";
}

const setOvsOffload: NodeStepKind<SetOvsOffload> = {
  describe: () => "set other_config:hw-offload of Open vSwitch",
  disrupts: disruptsNoPod,
  refusedFor: "node",
};

/** Restarts ovs-vswitchd, so that hardware offload takes effect. */
interface RestartOvs {
  readonly kind: "restart-ovs";
}

const restartOvs: NodeStepKind<RestartOvs> = {
  describe: () => "restart ovs-vswitchd",
  disrupts: (_step, observed) => hasSwitchdevVfs(observed),
  refusedFor: "node",
};

/** Reports whether pods can be attached to an Open vSwitch bridge that Switchyard manages: only pods with VFs can. */
export function hasSwitchdevVfs({ interfaces = [] }: ObservedPfs): boolean {
  return interfaces.some(({ numVfs = 0, eSwitchMode }) => numVfs > 0 && eSwitchMode === "switchdev");
}

/** The kinds of this subject by their names. */
export const hostOvsSteps = {
  "set-host-ovs": setHostOvs,
  "set-ovs-offload": setOvsOffload,
  "restart-ovs": restartOvs,
};
