// SPDX-License-Identifier: Apache-2.0
/**
 * StepResult is the cost of a step of the scenario. Times are seconds from the first write of the step.
 */
import type { Load } from "../harness/machine.ts";
import type { RequestCount } from "../harness/request-count.ts";

export const stepTitles = {
  start: "start, create node states",
  report: "all daemons report their NICs",
  "first-policy": "first policy",
  "change-num-vfs": "change numVfs",
  "more-policies": "more policies",
  label: "one label on one node (no effect)",
  "delete-policies": "delete all policies",
  restart: "restart, converged",
} as const;

export type StepId = keyof typeof stepTitles;

export interface StepResult {
  readonly id: StepId;
  /** Number of the round, from 1. Steps that run once are in round 1. */
  readonly round: number;
  /** Seconds until the first and the last node had the new spec; absent if no spec must change. */
  readonly firstSeconds?: number;
  readonly allSeconds?: number;
  /** Number of changes of specs; more than the nodes if some were written twice. */
  readonly specChanges: number;
  /** Seconds of the plain client for the same specs; absent if nothing is written. */
  readonly plainSeconds?: number;
  /**
   * Of the machine until the last spec arrived, for the operator and for the plain client. Their times compare if others
   * did nothing; the CPU time of all together (API server, etcd, both clients) compares in any case.
   */
  readonly load: Load;
  readonly plainLoad?: Load;
  /** CPU time of the operator until it is idle again. */
  readonly cpuSeconds: number;
  readonly rssMb: number;
  /** The largest RSS since the operator's start. */
  readonly peakMb: number;
  /** Requests of the operator. */
  readonly requests: RequestCount;
}

/** "first policy", "first policy (2)" */
export function titleOf({ id, round }: Pick<StepResult, "id" | "round">): string {
  return round === 1 ? stepTitles[id] : `${stepTitles[id]} (${round})`;
}
