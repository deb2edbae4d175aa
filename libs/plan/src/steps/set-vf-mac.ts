// SPDX-License-Identifier: Apache-2.0
import { isNeededByNone, vfOf, type PfStepKind } from "./step-kind.ts";

/** Sets the administrative MAC address of the VF to its present address, which then stays the same after a rebind. */
export interface SetVfMac {
  readonly kind: "set-vf-mac";
  readonly pciAddress: string;
  readonly vfId: number;
  /** Unbind and bind the driver afterwards: an RDMA device derives its GUID from the address when it is created. */
  readonly rebind?: true;
  /** No pod has the VF. */
  readonly isFree?: true;
}

export const setVfMac: PfStepKind<SetVfMac> = {
  describe: (step) => `set administrative MAC address of ${vfOf(step)}`,
  disruption({ vfId, rebind, isFree }, { Vfs: vfs = [] }) {
    if (rebind !== true || isFree === true || !vfs.some((vf) => vf.vfID === vfId)) return undefined;
    const text = `VF ${vfId} is unbound from its driver and bound again, because its MAC address changes`;
    return { cause: "vfGroups", text };
  },
  isNeededBy: isNeededByNone,
};
