// SPDX-License-Identifier: Apache-2.0
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
