// SPDX-License-Identifier: Apache-2.0
import type { StepKind } from "./step-kind.ts";

/** Reboots the node. It runs after all other steps. */
export interface Reboot {
  readonly kind: "reboot";
  /** Ids of the causes. */
  readonly causes: readonly string[];
  /** Whether a change waits for the reboot already. Otherwise a failure of another step prevents the reboot. */
  readonly isPending: boolean;
}

export const reboot: StepKind<Reboot> = {
  describe: ({ causes }) => `reboot for ${causes.join(", ")}`,
};
