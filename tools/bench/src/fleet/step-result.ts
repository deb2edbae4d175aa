// SPDX-License-Identifier: Apache-2.0
/**
 * What a step of the scenario cost. Times are seconds from the step's begin, the first write of whoever causes it.
 */
import type { Load } from "../harness/machine-load.ts";
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
  /** From 1; steps that come once are of round 1. */
  readonly round: number;
  /** When the first and the last node had its new spec; absent where none shall come. */
  readonly firstSeconds?: number;
  readonly allSeconds?: number;
  /** How often specs changed: more than the nodes where some were written twice. */
  readonly specChanges: number;
  /** The plain client, for the same specs; absent where nothing is written. */
  readonly plainSeconds?: number;
  /**
   * Of the machine until the last spec arrived, for the operator and for the plain client. Their times compare if others
   * did nothing; the CPU time of all together (API server, etcd, both clients) compares in any case.
   */
  readonly load: Load;
  readonly plainLoad?: Load;
  /** Of the operator, until it rests again. */
  readonly cpuSeconds: number;
  readonly rssMb: number;
  /** The largest RSS since its start. */
  readonly peakMb: number;
  /** Of the operator. */
  readonly requests: RequestCount;
}

/** "first policy", "first policy (2)" */
export function titleOf({ id, round }: Pick<StepResult, "id" | "round">): string {
  return round === 1 ? stepTitles[id] : `${stepTitles[id]} (${round})`;
}
