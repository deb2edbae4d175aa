// SPDX-License-Identifier: Apache-2.0
/** Call is what every command works with: the request, the node's settings, the time limits and the log. */
import { describe } from "../request/cni-error.ts";
import { earlier, leftMs, nowMs, type Deadline, type Wait } from "../process/deadline.ts";
import type { Progress } from "./attachment-record.ts";
import type { Log } from "./log.ts";
import type { CniRequest } from "../request/request.ts";
import type { CniResult } from "../request/result.ts";
import type { Settings, Timeouts } from "../request/settings.ts";
import type { StopSignal } from "../process/stop-signal.ts";

/** One running call. */
export interface Call {
  readonly request: CniRequest;
  readonly settings: Settings;
  readonly timeouts: Timeouts;
  /** When the whole call must have ended. */
  readonly deadline: Deadline;
  /** The runtime's request to stop; absent while a failed ADD is undone. */
  readonly signal?: StopSignal;
  readonly log: Log;
}

/** Connects an interface: calls `record` before each step and returns what it made. */
export type Connect = (call: Call, record: (progress: Progress) => void) => Promise<CniResult>;

/**
 * The limits of one wait: `limitMs`, the time left for the call, and the stop signal. Throws code 11 if no time is
 * left.
 */
export function waitFor({ deadline, signal }: Call, limitMs: number): Wait {
  return { timeoutMs: leftMs(deadline, limitMs), ...(signal === undefined ? {} : { signal }) };
}

/** The same call with a deadline that is `ms` earlier. */
export function withReservedTime(call: Call, ms: number): Call {
  return { ...call, deadline: earlier(call.deadline, ms) };
}

/** The same call without its stop signal: undoing a failed ADD must not be interrupted. */
export function withoutStopSignal({ request, settings, timeouts, deadline, log }: Call): Call {
  return { request, settings, timeouts, deadline, log };
}

/** Runs `act` and logs `step` with its duration and, if it fails, its error. */
export async function logged<T>({ log }: Pick<Call, "log">, step: string, act: () => Promise<T>): Promise<T> {
  const start = nowMs();
  const ms = () => Math.round(nowMs() - start);
  try {
    const value = await act();
    log.info(step, { ms: ms() });
    return value;
  } catch (error) {
    log.error(step, { ms: ms(), error: describe(error) });
    throw error;
  }
}
