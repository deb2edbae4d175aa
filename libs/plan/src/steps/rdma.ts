// SPDX-License-Identifier: Apache-2.0
/** Steps that change the RDMA mode of the node. */
import { disruptsNoPod, type NodeStepKind } from "./step-kind.ts";

/** Changes the mode of the RDMA subsystem of the running kernel. */
interface SetRdmaMode {
  readonly kind: "set-rdma-mode";
  readonly from: "shared" | "exclusive";
  readonly to: "shared" | "exclusive";
  /** Present if no pool requests the mode: the node returns to its initial mode, and a refusal is no failure. */
  readonly isReturn?: true;
}

const setRdmaMode: NodeStepKind<SetRdmaMode> = {
  describe: ({ from, to }) => `set RDMA mode ${from} -> ${to}`,
  disrupts: disruptsNoPod,
  refusedFor: "node",
};

/** Writes or removes the file with the mode that ib_core gets when it is loaded. */
interface SetPersistentRdmaMode {
  readonly kind: "set-persistent-rdma-mode";
  /** Present mode in the file; absent if there is no file. */
  readonly from?: "shared" | "exclusive";
  /** Absent if the file must be removed. */
  readonly to?: "shared" | "exclusive";
  /** Mode of the node before the first change, which the file records; absent if it is not known. */
  readonly initial?: "shared" | "exclusive";
}

const setPersistentRdmaMode: NodeStepKind<SetPersistentRdmaMode> = {
  describe: ({ from, to }) =>
    to === undefined
      ? `remove RDMA mode ${from ?? ""} from /etc/modprobe.d`
      : `set RDMA mode ${from === undefined ? "" : `${from} -> `}${to} in /etc/modprobe.d`,
  disrupts: disruptsNoPod,
  refusedFor: "node",
};

/** The kinds of this subject by their names. */
export const rdmaSteps = {
  "set-rdma-mode": setRdmaMode,
  "set-persistent-rdma-mode": setPersistentRdmaMode,
};
