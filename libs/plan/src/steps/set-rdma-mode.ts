// SPDX-License-Identifier: Apache-2.0
import type { StepKind } from "./step-kind.ts";

/** Changes the mode of the RDMA subsystem of the running kernel. */
export interface SetRdmaMode {
  readonly kind: "set-rdma-mode";
  readonly from: "shared" | "exclusive";
  readonly to: "shared" | "exclusive";
}

export const setRdmaMode: StepKind<SetRdmaMode> = {
  describe: ({ from, to }) => `set RDMA mode ${from} -> ${to}`,
};
