// SPDX-License-Identifier: Apache-2.0
import type { StepKind } from "./step-kind.ts";

/** Restarts ovs-vswitchd, so that hardware offload takes effect. */
export interface RestartOvs {
  readonly kind: "restart-ovs";
}

export const restartOvs: StepKind<RestartOvs> = {
  describe: () => "restart ovs-vswitchd",
};
