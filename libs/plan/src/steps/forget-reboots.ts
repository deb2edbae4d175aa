// SPDX-License-Identifier: Apache-2.0
import type { StepKind } from "./step-kind.ts";

/** Removes causes from the record of the last reboot, because what they required is in effect. */
export interface ForgetReboots {
  readonly kind: "forget-reboots";
  readonly causes: readonly string[];
}

export const forgetReboots: StepKind<ForgetReboots> = {
  describe: ({ causes }) => `forget the reboot for ${causes.join(", ")}`,
};
