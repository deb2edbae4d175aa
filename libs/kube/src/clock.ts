// SPDX-License-Identifier: Apache-2.0
/**
 * Time as it is injected: what waits asks a Clock, so that tests turn it by hand.
 * Usage: `await sleep(systemClock, 500, signal)`.
 */
import { performance } from "node:perf_hooks";

export interface Clock {
  /** Never goes back; only differences mean something. */
  nowMs(): number;
  /** Calls `run` once, `delayMs` from now. The answer cancels it, and does nothing afterwards. */
  after(delayMs: number, run: () => void): () => void;
}

/** The process's own time. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, longestTimerMs));
    return () => {
      clearTimeout(timer);
    };
  },
};

/** Resolves after `delayMs`; rejects with the signal's reason once it aborts. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    function stop() {
      cancel();
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the reason is the caller's own
      reject(signal.reason);
    }
    signal.addEventListener("abort", stop, { once: true });
  });
}

// setTimeout fires at once for more. 24 days early is early enough for whoever asks again.
const longestTimerMs = 2 ** 31 - 1;
