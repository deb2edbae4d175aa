// SPDX-License-Identifier: Apache-2.0
import { vfOf, type PfStepKind } from "./step-kind.ts";

/** Removes the vDPA device of a VF. */
export interface RemoveVdpaDevice {
  readonly kind: "remove-vdpa-device";
  readonly pciAddress: string;
  readonly vfId: number;
}

export const removeVdpaDevice: PfStepKind<RemoveVdpaDevice> = {
  describe: (step) => `remove vDPA device of ${vfOf(step)}`,
  disruption: ({ vfId }) => ({ cause: "vfGroups", text: `VF ${vfId} loses its vDPA device` }),
  isNeededBy: (step, other) => other.vfId === step.vfId || other.kind === "set-num-vfs",
};
