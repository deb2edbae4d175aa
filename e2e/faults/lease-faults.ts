// SPDX-License-Identifier: Apache-2.0
/**
 * What goes wrong with the operator's lease. Where that is over before the lease has run out, nobody may notice.
 * Usage: `const fate = leaseFate("renewals slow");`
 */
import type { Fate } from "../src/fault-rules.ts";

/** Of all renewals of a step. */
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
