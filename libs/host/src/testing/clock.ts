// SPDX-License-Identifier: Apache-2.0
/**
 * Provides the clock of a fake kernel: the clock of the system, or one that a test advances.
 * Usage: `const clock = createManualClock(); await clock.advance(1_500);`
 */
import { setTimeout as delay } from "node:timers/promises";

/** The operations on time that the fake kernel needs. */
export interface KernelClock {
  nowMs(): number;
  /** Resolves after `ms`, in a later turn of the event loop, or as soon as `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `act` after `ms`. It does not keep the process alive. */
  later(ms: number, act: () => void): void;
}

export const systemKernelClock: KernelClock = {
  nowMs: () => performance.now(),
  later: (ms, act) => {
    setTimeout(act, ms).unref();
  },
  sleep: (ms, signal) => delay(ms, undefined, signal && { signal }).catch(() => undefined),
};

/** A clock that moves only when advance() is called. */
export interface ManualClock extends KernelClock {
  /** Moves the clock by `ms`. Sleepers wake in the order of their time, and each can run before the next one wakes. */
  advance(ms: number): Promise<void>;
}

export function createManualClock(startMs = 0): ManualClock {
  let nowMs = startMs;
  let sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];

  function takeNext(untilMs: number) {
    const next = sleepers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
    sleepers = sleepers.filter((sleeper) => sleeper !== next);
    return next;
  }

  return {
    nowMs: () => nowMs,
    later: (ms, act) => {
      sleepers.push({ atMs: nowMs + ms, wake: act });
    },
    sleep: (ms, signal) =>
      new Promise((wake) => {
        const sleeper = { atMs: nowMs + ms, wake };
        sleepers.push(sleeper);
        signal?.addEventListener("abort", () => {
          sleepers = sleepers.filter((other) => other !== sleeper);
          wake();
        });
        if (signal?.aborted) wake();
      }),
    async advance(ms) {
      const endMs = nowMs + ms;
      await delay(0);
      for (let next = takeNext(endMs); next !== undefined; next = takeNext(endMs)) {
        nowMs = Math.max(nowMs, next.atMs);
        next.wake();
        await delay(0); // a woken sleeper may sleep again within `ms`
      }
      nowMs = endMs;
    },
  };
}
