// SPDX-License-Identifier: Apache-2.0
/**
 * Clock is the source of time for code that waits, so that tests can replace it. sleep waits by a Clock.
 * Usage: `await sleep(systemClock, 500, signal)`.
 */
import { performance } from "node:perf_hooks";

export interface Clock {
  /** Monotonic time; only differences have a meaning. */
  nowMs(): number;
  /** Calls `run` once after `delayMs`. Returns a function that cancels the call. */
  after(delayMs: number, run: () => void): () => void;
}

/** The clock of this process. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, longestTimerMs));
    return () => {
      clearTimeout(timer);
    };
  },
};

/** Resolves after `delayMs`; rejects with the signal's reason when it aborts. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    function stop() {
      cancel();
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller chose the reason
      reject(signal.reason);
    }
    signal.addEventListener("abort", stop, { once: true });
  });
}

// setTimeout fires at once for longer delays. A timer that fires early, after 24 days, does no harm.
const longestTimerMs = 2 ** 31 - 1;
