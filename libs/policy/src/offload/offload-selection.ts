// SPDX-License-Identifier: Apache-2.0
/**
 * OffloadPool is a set of hosts that an entry of SriovOperatorConfig.spec.ovnHardwareOffload selects.
 * Usage: `const names = selection.pools.flatMap((pool: OffloadPool) => pool.nodes);`
 */

/** A pool that an entry selects. */
export interface OffloadPool {
  /** Name of the MachineConfigPool; without MachineConfigPools, poolNameOf the entry's nodeSelector. */
  readonly name: string;
  /** Index of the entry. */
  readonly entry: number;
  readonly taint?: "NoSchedule";
  /** Value of the role label by which a MachineConfig reaches this pool only; absent without MachineConfigPools. */
  readonly role?: string;
  /** Names of the pool's nodes, sorted, without those that `problems` says are in no pool's nodes. */
  readonly nodes: readonly string[];
}

/** The result of selectOffloadPools. */
export interface OffloadSelection {
  /** The pools, ordered by name. */
  readonly pools: readonly OffloadPool[];
  /** Ordered by entry, pool and node. */
  readonly problems: readonly OffloadProblem[];
}

/**
 * All codes with their severity. The webhook refuses an entry with an error; a warning is something that may be right
 * later.
 */
const offloadProblemSeverity = {
  /** The nodeSelector has no label. The entry selects nothing. */
  "empty-selector": "error",
  /** No MachineConfigPool has all labels of the nodeSelector. The entry selects nothing. */
  "no-pool": "error",
  /** The nodeSelector selects the pool master or worker. That pool is left out. */
  "reserved-pool": "error",
  /** An earlier entry selects the same pool and decides about it. */
  "pool-selected-twice": "error",
  /** The pool's name cannot be the value of a label. The pool is left out. */
  "bad-pool-name": "error",
  /** No MachineConfig can be made for this pool alone. The pool is left out. */
  "no-role": "error",
  /** The node belongs to several custom pools, so no pool configures it. It is in no pool's `nodes`. */
  "several-pools": "error",
  /** The node has more than one SmartNIC. It is in `nodes`, but cannot become a host. */
  "several-smart-nics": "error",
  /** The host would boot without network, because its default route needs Open vSwitch. It is in `nodes`, but cannot become a host. */
  "network-on-open-vswitch": "error",
  /** The node belongs to the control plane. It is in no pool's `nodes`. */
  "control-plane-node": "warning",
  /** The node has reported its PFs, and none belongs to a SmartNIC. It is in `nodes`, but cannot become a host. */
  "no-smart-nic": "warning",
  /** The selectors of a MachineConfigPool are invalid, so it is not known whether the entry selects it. Its hosts stay. */
  "unreadable-pool": "warning",
  /** The entry selects no node, in a cluster without MachineConfigPools. */
  "no-node": "warning",
} as const;

/**
 * OffloadProblem describes why an entry of SriovOperatorConfig.spec.ovnHardwareOffload, or a host that it selects, cannot
 * be used as requested. Problems are values: a problem of one entry or node does not stop the others.
 * Code of a problem.
 */
export type OffloadProblemCode = keyof typeof offloadProblemSeverity;

/** One problem of one entry. */
export interface OffloadProblem {
  readonly code: OffloadProblemCode;
  /** offloadProblemSeverity of the code. */
  readonly severity: "error" | "warning";
  /** Index of the entry in spec.ovnHardwareOffload. */
  readonly entry: number;
  /** The pool that the problem concerns; undefined if it concerns the entry. */
  readonly pool?: string;
  /** The node that the problem concerns; undefined if it concerns the pool or the entry. */
  readonly node?: string;
  /** A sentence without its final period. It names the pool and the node. */
  readonly message: string;
}

/** Adds the severity to a problem. */
export function offloadProblem(problem: Omit<OffloadProblem, "severity">): OffloadProblem {
  return { severity: offloadProblemSeverity[problem.code], ...problem };
}
