// SPDX-License-Identifier: Apache-2.0
/**
 * Waits that end. A call has one deadline; each wait in it has a limit of its own and never outlives the deadline.
 * Usage: `const whole = deadlineIn(110_000); dial(path, { timeoutMs: leftMs(whole, 3_000) })`.
 */
import { CniError, cniCode } from "../request/cni-error.ts";
import type { StopSignal } from "./stop-signal.ts";

/** How long to wait, and who may end it sooner. */
export interface Wait {
  readonly timeoutMs: number;
  readonly signal?: StopSignal;
}

/** A point in time, on the clock of nowMs(). */
export interface Deadline {
  readonly endMs: number;
}

/** Milliseconds of a clock that is never set. Not performance.now(): loading that takes 0.7 ms of each start. */
export function nowMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/** `ms` from now. */
export function deadlineIn(ms: number): Deadline {
  return { endMs: nowMs() + ms };
}

/** The same, `ms` sooner: what must be kept for later. */
export function sooner(deadline: Deadline, ms: number): Deadline {
  return { endMs: deadline.endMs - ms };
}

/** How long a wait may take that wants `limitMs`: at least 1. Throws code 11 when the deadline has passed. */
export function leftMs(deadline: Deadline, limitMs: number): number {
  const left = Math.ceil(Math.min(limitMs, deadline.endMs - nowMs()));
  if (left <= 0) throw new CniError(cniCode.tryAgain, "the time for this call is used up");
  return left;
}

/** Resolves after `ms`. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
