// SPDX-License-Identifier: Apache-2.0
/**
 * What every command works with: the request, where things are, how long there is, and where to write what was done.
 * Usage: `await add(call, print)`.
 */
import { describe } from "../request/cni-error.ts";
import { leftMs, nowMs, sooner, type Deadline, type Wait } from "../process/deadline.ts";
import type { Log } from "../state/log.ts";
import type { CniRequest } from "../request/request.ts";
import type { Settings, Timeouts } from "../request/settings.ts";
import type { StopSignal } from "../process/stop-signal.ts";

/** One call, under way. */
export interface Call {
  readonly request: CniRequest;
  readonly settings: Settings;
  readonly timeouts: Timeouts;
  /** The end of the whole call. */
  readonly deadline: Deadline;
  /** The runtime's wish that we stop; absent while we undo. */
  readonly signal?: StopSignal;
  readonly log: Log;
}

/** The limits of one wait: its own, what is left of the call, and the runtime's patience. Throws code 11 when none is left. */
export function waitFor({ deadline, signal }: Call, limitMs: number): Wait {
  return { timeoutMs: leftMs(deadline, limitMs), ...(signal === undefined ? {} : { signal }) };
}

/** The same call with `ms` kept back from its time. */
export function keepBack(call: Call, ms: number): Call {
  return { ...call, deadline: sooner(call.deadline, ms) };
}

/** The same call, which a signal no longer stops: undoing is not given up half-way. */
export function unstoppable({ request, settings, timeouts, deadline, log }: Call): Call {
  return { request, settings, timeouts, deadline, log };
}

/** Does a step and logs how long it took and how it ended. */
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
