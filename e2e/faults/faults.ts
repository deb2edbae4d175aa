// SPDX-License-Identifier: Apache-2.0
/**
 * Faults of the operator's lists and watches. A watch ends instead of delivering its next event. Until the operator
 * watches again, requests for the resource are refused or slow, or lists fail between two pages.
 */
import type { ApiRequest } from "../src/api/api-request.ts";
import type { WriteOutcome, ReadOutcome, Refusal, WatchEnd } from "../src/api/fault-rules.ts";

/**
 * Faults of renewals of the operator's lease. If they end before the lease expires, they must have no effect.
 * A fault applies to the first renewals of a step.
 */
export const leaseFaults = ["renewal refused", "renewal slow", "renewal unanswered", "renewal in conflict"] as const;

export type LeaseFault = (typeof leaseFaults)[number];

export const readFaults = [
  "watch cut",
  "watch cut within an object",
  "410 in the middle of a list",
  "slow list",
  "401 on reading",
  "403 on reading",
  "429 on reading",
  "500 on reading",
] as const;

export type ReadFault = (typeof readFaults)[number];

export interface ReadFaults {
  /** Injects the fault from the next event of this resource on. */
  arm(resource: string, fault: ReadFault): void;
  /** Ends all faults. */
  disarm(): void;
  /** Whether the fault has ended a watch of the resource. */
  hasStruck(resource: string): boolean;
  /** Whether the operator has repeated all watches that a fault ended. */
  readonly isOver: boolean;
  /** Called before each event. */
  endOf(watch: ApiRequest): WatchEnd | undefined;
  /** Called for each list, and for each watch when it starts. */
  outcomeOf(read: ApiRequest): ReadOutcome;
}

interface Plan {
  readonly end: WatchEnd;
  /** The next two requests are refused with this answer. */
  readonly refusal?: Refusal;
  /** The second page of a list is refused, twice. */
  readonly isCutOff?: boolean;
  readonly delayMs?: number;
}

const expired: Refusal = { status: 410, reason: "Expired" };

const plans: Readonly<Record<ReadFault, Plan>> = {
  "watch cut": { end: "reset" },
  "watch cut within an object": { end: "within an object" },
  "410 in the middle of a list": { end: "expired", isCutOff: true },
  "slow list": { end: "expired", delayMs: 2_000 },
  "401 on reading": { end: "reset", refusal: { status: 401, reason: "Unauthorized" } },
  "403 on reading": { end: "expired", refusal: { status: 403, reason: "Forbidden" } },
  "429 on reading": { end: "reset", refusal: { status: 429, reason: "TooManyRequests", retryAfterS: 1 } },
  "500 on reading": { end: "expired", refusal: { status: 500, reason: "InternalError" } },
};

const timesRefused = 2;

export function createReadFaults(): ReadFaults {
  const armed = new Map<string, { readonly plan: Plan; ended?: string; refused: number }>();
  const broken = new Set<string>();

  return {
    arm(resource, fault) {
      armed.set(resource, { plan: plans[fault], refused: 0 });
    },
    disarm() {
      armed.clear();
      broken.clear();
    },
    hasStruck: (resource) => armed.get(resource)?.ended !== undefined,
    get isOver() {
      return broken.size === 0;
    },
    endOf(watch) {
      const found = armed.get(watch.resource);
      if (found === undefined || found.ended !== undefined) return undefined;
      found.ended = keyOf(watch);
      broken.add(found.ended);
      return found.plan.end;
    },
    outcomeOf(read) {
      const found = armed.get(read.resource);
      const isBroken = found?.ended === keyOf(read);
      if (found === undefined || !isBroken) return {};
      const { refusal, isCutOff = false, delayMs } = found.plan;
      const answer = isCutOff && read.isNextPage ? expired : refusal;
      if (answer !== undefined && found.refused < timesRefused) {
        found.refused += 1;
        return { refusal: answer };
      }
      if (read.verb === "watch") broken.delete(found.ended ?? "");
      if (read.verb !== "list") return {};
      return { ...(isCutOff && { pageSize: 1 }), ...(delayMs !== undefined && { delayMs }) };
    },
  };
}

/** Identifies a watch and the list before it. */
function keyOf({ path, fieldSelector }: ApiRequest): string {
  return `${path} ${fieldSelector}`;
}

export function leaseOutcome(fault: LeaseFault): WriteOutcome {
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
