// SPDX-License-Identifier: Apache-2.0
import { isNeededByNone, vfOf, type PfStepKind } from "./step-kind.ts";

/**
 * Sets the node GUID and the port GUID of an InfiniBand VF: the GUID that the administrator's file has for the VF, or one that
 * Switchyard generated and recorded.
 */
export interface SetVfGuid {
  readonly kind: "set-vf-guid";
  readonly pciAddress: string;
  readonly vfId: number;
  /** Unbind and bind the driver afterwards: an RDMA device gets its GUID when it is created. */
  readonly rebind?: true;
}

export const setVfGuid: PfStepKind<SetVfGuid> = {
  describe: (step) => `set GUID of ${vfOf(step)}`,
  disruption({ vfId, rebind }, { Vfs: vfs = [] }) {
    if (rebind !== true || !vfs.some((vf) => vf.vfID === vfId)) return undefined;
    return { cause: "vfGroups", text: `VF ${vfId} is unbound from its driver and bound again, because it gets a GUID` };
  },
  isNeededBy: isNeededByNone,
};
