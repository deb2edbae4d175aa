// SPDX-License-Identifier: Apache-2.0
import { existingVfs, type PfStepKind } from "./step-kind.ts";

/** Creates or removes VFs. A change between two non-zero numbers removes all VFs first, because the kernel requires it. */
export interface SetNumVfs {
  readonly kind: "set-num-vfs";
  readonly pciAddress: string;
  readonly from: number;
  readonly to: number;
}

export const setNumVfs: PfStepKind<SetNumVfs> = {
  describe: ({ pciAddress, from, to }) => `set sriov_numvfs ${from} -> ${to} on ${pciAddress}`,
  // Creating the first VFs of a PF disrupts no pod (sriov-operator.md F.5).
  disruption({ from, to }) {
    if (from === 0) return undefined;
    return { cause: "numVfs", text: `changing numVfs from ${from} to ${to} removes ${existingVfs(from)}` };
  },
  isNeededBy: (_step, { kind, vfId }) => vfId !== undefined || dependents.has(kind),
};

/** Steps of the same PF that must not run if the PF does not have the number of VFs. */
const dependents: ReadonlySet<string> = new Set(["set-num-vfs", "set-flow-steering", "set-eswitch-mode"]);
