// SPDX-License-Identifier: Apache-2.0
/**
 * Faults of renewals of the operator's lease. If they end before the lease expires, they must have no effect.
 * Usage: `const fate = leaseFate("renewal slow");`
 */
import type { Fate } from "../src/fault-rules.ts";

/** A fault applies to the first renewals of a step. */
export const leaseFaults = ["renewal refused", "renewal slow", "renewal unanswered", "renewal in conflict"] as const;

export type LeaseFault = (typeof leaseFaults)[number];

export function leaseFate(fault: LeaseFault): Fate {
  switch (fault) {
    case "renewal refused":
      return { isCarriedOut: false, answer: { status: 500, reason: "InternalError" } };
    case "renewal slow":
      return { delayMs: 2_500, isCarriedOut: true, answer: "server's" };
    case "renewal unanswered":
      return { isCarriedOut: true, answer: "reset" };
    case "renewal in conflict":
      return { isCarriedOut: false, answer: { status: 409, reason: "Conflict" } };
  }
}
