// SPDX-License-Identifier: Apache-2.0
/**
 * AfxdpStepResult is the cost of a step of the AF_XDP benchmark. Times are seconds from the first write of the step.
 */
import type { Load } from "../harness/machine.ts";
import type { RequestCount } from "../harness/request-count.ts";

export const afxdpStepTitles = {
  off: "start without AF_XDP",
  config: "AfxdpOperatorConfig, create node states",
  report: "all daemons report their NICs",
  policy: "policy for all nodes",
  change: "change numSfs",
  restart: "restart, converged",
  delete: "delete the policy",
} as const;

export type AfxdpStepId = keyof typeof afxdpStepTitles;

export interface AfxdpStepResult {
  readonly id: AfxdpStepId;
  /** Number of the round, from 1. Steps that run once are in round 1. */
  readonly round: number;
  /** Seconds until the last node had the new spec; absent if no spec for AF_XDP must change. */
  readonly seconds?: number;
  /** Seconds of the plain client for the same specs. */
  readonly plainSeconds?: number;
  /** Of the machine until the last spec arrived, for the operator and for the plain client. */
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

/** "change numSfs", "change numSfs (2)" */
export function titleOf({ id, round }: Pick<AfxdpStepResult, "id" | "round">): string {
  return round === 1 ? afxdpStepTitles[id] : `${afxdpStepTitles[id]} (${round})`;
}
