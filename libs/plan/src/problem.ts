// SPDX-License-Identifier: Apache-2.0
/**
 * What a spec asks for and the node cannot give. A value: users ask for too much every day.
 */

/** One thing that cannot be done. The rest of the plan goes on without it. */
export interface PlanProblem {
  readonly code:
    | "unknown-pf"
    | "no-sriov"
    | "too-many-vfs"
    | "mtu-too-large"
    | "malformed-range"
    | "range-beyond-vfs"
    | "external-mismatch"
    | "unknown-rdma-mode"
    | "missing-module"
    | "unsupported";
  /** Where in the NodeState: "spec.interfaces[0].numVfs". */
  readonly field: string;
  /** Absent where the problem belongs to no PF. */
  readonly pciAddress?: string;
  /** What, where and what would be right: "9 VFs asked for, 0000:01:00.0 can have 7". */
  readonly message: string;
}

/** One line: "spec.interfaces[0].numVfs: 9 VFs asked for, 0000:01:00.0 can have 7". */
export function describeProblem(problem: PlanProblem): string {
  return `${problem.field}: ${problem.message}`;
}
