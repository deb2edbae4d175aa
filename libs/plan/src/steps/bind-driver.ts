// SPDX-License-Identifier: Apache-2.0
import { vfOf, type PfStepKind } from "./step-kind.ts";

/** Binds a VF to a driver. */
export interface BindDriver {
  readonly kind: "bind-driver";
  readonly pciAddress: string;
  readonly vfId: number;
  /** Present driver; absent if the VF has none or does not exist yet. */
  readonly from?: string;
  /** Name of a driver, or "default" for the driver that the kernel chooses. */
  readonly to: string;
  /** Whether the VF is the PF itself: the card of a virtual machine, which the hypervisor has passed to it. */
  readonly isPf?: boolean;
  /** No pod has the VF, which has no network interface: its present driver is bound again. */
  readonly isAgain?: true;
}

export const bindDriver: PfStepKind<BindDriver> = {
  describe: (step) =>
    `bind ${vfOf(step)} to ${nameOf(step)}${step.isAgain === true ? " again" : ""}${step.from === undefined ? "" : ` (from ${step.from})`}`,
  disruption(step) {
    if (step.from === undefined || step.isAgain === true) return undefined;
    return { cause: "vfGroups", text: `VF ${step.vfId} changes its driver from ${step.from} to ${nameOf(step)}` };
  },
  isNeededBy: (step, { vfId }) => vfId === step.vfId,
};

function nameOf({ to }: BindDriver): string {
  return to === "default" ? "its kernel driver" : to;
}
