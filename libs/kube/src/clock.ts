// SPDX-License-Identifier: Apache-2.0
/**
 * Clock is the source of time for code that waits, so that tests can replace it. sleep waits by a Clock.
 * Usage: `await sleep(systemClock, 500, signal)`.
 */
import { uptime } from "node:os";
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

/**
 * bootClock measures the time since boot; lease deadlines and cache ages use it. Changes of the wall clock do not affect it.
 * Unlike timers and performance.now() (CLOCK_MONOTONIC on Linux) it continues while the machine is suspended, so a leader
 * that resumes knows that its lease has expired. It cannot see that a hypervisor paused a virtual machine.
 * The two clocks of the machine that a boot clock reads.
 */
interface MachineClocks {
  /** Time since boot, with suspends, in steps of 10 ms. Slow to read: /proc/uptime adds up the idle time of all CPUs. */
  readonly uptimeMs: () => number;
  /** Wall clock. It can be set, but it continues during a suspend. */
  readonly wallMs: () => number;
  /** How long a reading of the uptime counts; 10 ms by default. */
  readonly stepMs?: number;
}

/** The boot clock of this machine, in steps of about 10 ms. Its timers stop during a suspend, so read it when they fire. */
export const bootClock: Clock = createBootClock({ uptimeMs: () => uptime() * 1000, wallMs: Date.now });

/** Makes a boot clock. It reads the uptime only once per step, since each of a thousand writes per second reads the clock. */
export function createBootClock({ uptimeMs, wallMs, stepMs = 10 }: MachineClocks): Clock {
  let last = { wallMs: -Infinity, uptimeMs: 0 };
  return {
    nowMs() {
      const now = wallMs();
      const isSameStep = now >= last.wallMs && now < last.wallMs + stepMs;
      if (!isSameStep) last = { wallMs: now, uptimeMs: uptimeMs() };
      return last.uptimeMs;
    },
    after: (delayMs, run) => systemClock.after(delayMs, run),
  };
}

export interface BackoffRange {
  /** Back-off after the first failure. */
  readonly baseMs: number;
  readonly maxMs: number;
}

/**
 * backoffMs computes an exponential back-off with jitter, so that clients which fail together do not retry together. Returns the
 * time to wait after the n-th failure in a row (from 1): between half and all of baseMs * 2^(n-1), where the product is at most
 * maxMs. `random` returns a number in [0, 1).
 */
export function backoffMs(failures: number, { baseMs, maxMs }: BackoffRange, random: () => number): number {
  const wholeMs = Math.min(maxMs, baseMs * 2 ** (failures - 1));
  return wholeMs / 2 + random() * (wholeMs / 2);
}
