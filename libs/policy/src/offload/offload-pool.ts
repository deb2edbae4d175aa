// SPDX-License-Identifier: Apache-2.0
/**
 * OffloadPool is a set of hosts that an entry of SriovOperatorConfig.spec.ovnHardwareOffload selects.
 * Usage: `const names = selection.pools.flatMap((pool: OffloadPool) => pool.nodes);`
 */
import type { OffloadProblem } from "./offload-problem.ts";

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
