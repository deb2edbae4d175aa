// SPDX-License-Identifier: Apache-2.0
/**
 * Limits waits. A call has one deadline; each wait in the call has its own limit and ends at the deadline at the latest.
 */
import { CniError, cniCode } from "../request/cni-error.ts";
import type { StopSignal } from "./stop-signal.ts";

/** How long to wait, and the signal that ends the wait earlier. */
export interface Wait {
  readonly timeoutMs: number;
  readonly signal?: StopSignal;
}

/** A point in time on the clock of nowMs(). */
export interface Deadline {
  readonly endMs: number;
}

/** Milliseconds of a monotonic clock. Not performance.now(), because loading it adds 0.7 ms to each start. */
export function nowMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/** The deadline `ms` from now. */
export function deadlineIn(ms: number): Deadline {
  return { endMs: nowMs() + ms };
}

/** The deadline `ms` before `deadline`. */
export function earlier(deadline: Deadline, ms: number): Deadline {
  return { endMs: deadline.endMs - ms };
}

/** The shorter of `limitMs` and the time left, at least 1. Throws code 11 when the deadline has passed. */
export function leftMs(deadline: Deadline, limitMs: number): number {
  const left = Math.ceil(Math.min(limitMs, deadline.endMs - nowMs()));
  if (left <= 0) throw new CniError(cniCode.tryAgain, "the call exceeded its time limit");
  return left;
}

/** Resolves after `ms`. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
