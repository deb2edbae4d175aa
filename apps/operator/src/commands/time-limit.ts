// SPDX-License-Identifier: Apache-2.0
/**
 * limitTime gives a command its time limit, and repeats requests within it that the API server could not answer.
 * Usage: `using limit = limitTime({ timeoutMs: 120_000, signal, print }); await limit.retry(() => transport.request(get));`
 */
import { backoffMs, isKubeError, sleep, systemClock, type Clock } from "@switchyard/kube";
import { CommandError } from "./command-error.ts";

export interface TimeLimit extends Disposable {
  /** Aborts at the end of the time, or with the command's own signal. */
  readonly signal: AbortSignal;
  /** Whether the time is over. */
  readonly isOver: () => boolean;
  /**
   * Repeats a request while the API server does not answer or is overloaded. Rejects with any other error at once, and at the
   * end of the time with CommandError TIMED_OUT, which says the last error of the request, or else what the last
   * pause waited for.
   */
  readonly retry: <T>(request: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  /** Waits. Rejects at the end of the time with CommandError TIMED_OUT, which says what is unfinished: "x is not established yet". */
  readonly pause: (ms: number, unfinished: string) => Promise<void>;
}

export interface TimeLimitOptions {
  readonly timeoutMs: number;
  /** The command's signal. */
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
  readonly clock?: Clock;
}

const backoff = { baseMs: 250, maxMs: 5_000 };

/** Disposing it ends the timer. */
export function limitTime({ timeoutMs, signal: outer, print, clock = systemClock }: TimeLimitOptions): TimeLimit {
  const end = new AbortController();
  const cancel = clock.after(timeoutMs, () => {
    end.abort(new CommandError("TIMED_OUT", `not finished within ${timeoutMs / 1000} s`));
  });
  const signal = AbortSignal.any([outer, end.signal]);
  const timedOut = (what: string) =>
    new CommandError("TIMED_OUT", `not finished within ${timeoutMs / 1000} s: ${what}`);
  let saidWaiting = false;
  /** What the last pause waited for, which may be over meanwhile. */
  let lastSeen = "";

  async function wait(ms: number, what: string): Promise<void> {
    try {
      await sleep(clock, ms, signal);
    } catch (error) {
      outer.throwIfAborted();
      if (end.signal.aborted) throw timedOut(what);
      throw error;
    }
  }

  return {
    signal,
    isOver: () => end.signal.aborted,
    pause(ms, what) {
      lastSeen = what;
      return wait(ms, what);
    },
    async retry(request) {
      let problem = `the API server does not answer${lastSeen === "" ? "" : `; last seen: ${lastSeen}`}`;
      for (let failures = 1; ; failures++) {
        try {
          return await request(signal);
        } catch (error) {
          outer.throwIfAborted();
          if (end.signal.aborted) throw timedOut(problem);
          if (!isKubeError(error) || !isPassing(error)) throw error;
          problem = error.message;
        }
        if (!saidWaiting) print(`the API server does not answer; retrying: ${problem}`);
        saidWaiting = true;
        await wait(backoffMs(failures, backoff, Math.random), problem);
      }
    },
    [Symbol.dispose]: () => {
      cancel();
    },
  };
}

/** Whether the same request can succeed later: no answer, or one that says that the server is busy. */
function isPassing({ code, status }: { readonly code: string; readonly status: number | undefined }): boolean {
  if (status === undefined) return code === "ConnectionLost" || code === "Timeout";
  return status === 429 || status === 409 || (status > 500 && status < 600);
}
