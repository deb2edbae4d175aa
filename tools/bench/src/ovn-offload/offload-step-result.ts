// SPDX-License-Identifier: Apache-2.0
/**
 * OffloadStepResult is the cost of a step of the scenario. Times are seconds from the end of what causes the step.
 */
import type { Load } from "../harness/machine.ts";
import type { RequestCount } from "../harness/request-count.ts";

export const stepTitles = {
  start: "start, nothing selected",
  select: "select all pools: labels, policies, DNS",
  vfs: "all VFs reported: MachineConfigs",
  boot: "all hosts booted: management ports, labels",
  idle: "idle",
  label: "one label on one node (no effect)",
  report: "one daemon reports (no effect)",
  restart: "restart, converged",
  add: "a host is added",
  remove: "a host is removed",
  deselect: "deselect all pools: MachineConfigs",
  restore: "all hosts booted: everything restored",
} as const;

export type OffloadStepId = keyof typeof stepTitles;

export interface OffloadStepResult {
  readonly id: OffloadStepId;
  /** Number of the round, from 1. */
  readonly round: number;
  /** Seconds until the last write that is not one of the status; absent if there is none. */
  readonly seconds?: number;
  /** Seconds until the last write of the status; absent if it was not written. */
  readonly statusSeconds?: number;
  /** Seconds of the plain client for the writes that were sent in `seconds`; absent if there is none. */
  readonly plainSeconds?: number;
  /** Size of all bodies that were written. */
  readonly bytes: number;
  /** Of the machine until the last write. */
  readonly load: Load;
  readonly plainLoad?: Load;
  /** CPU time of ovn-offload, from the beginning of the cause until it is idle again. */
  readonly cpuSeconds: number;
  readonly rssMb: number;
  /** The largest RSS since the start of the process. */
  readonly peakMb: number;
  /** Requests of ovn-offload. */
  readonly requests: RequestCount;
}

/** "idle", "idle (2)" */
export function titleOf({ id, round }: Pick<OffloadStepResult, "id" | "round">): string {
  return round === 1 ? stepTitles[id] : `${stepTitles[id]} (${round})`;
}
