// SPDX-License-Identifier: Apache-2.0
/**
 * The clock that leases are counted by: time since boot, which no step of the wall clock moves. Unlike the clock of
 * timers and performance.now() (CLOCK_MONOTONIC on Linux) it goes on while the machine sleeps; a leader that wakes up
 * must know that its lease ran out meanwhile. What it cannot see is a virtual machine that was stopped from outside.
 * Usage: `runWhenLeading({ clock: bootClock, ... })`, which is the default.
 */
import { uptime } from "node:os";
import { systemClock, type Clock } from "../clock.ts";

/** The two clocks of the machine that it is made of, in ms. */
export interface MachineClocks {
  /** Since boot, sleep included. Counts in steps of 10 ms and is slow to ask: /proc/uptime adds up all processors. */
  readonly uptimeMs: () => number;
  /** May be set to whatever, but moves on over a sleep. */
  readonly wallMs: () => number;
}

/** In steps of about 10 ms. Its timers stand still with the machine, so look again when they run. */
export const bootClock: Clock = createBootClock({ uptimeMs: () => uptime() * 1000, wallMs: Date.now });

/** A thousand writes a second ask for each: the uptime is read once for all that falls into one of its steps. */
export function createBootClock({ uptimeMs, wallMs }: MachineClocks): Clock {
  let last = { wallMs: -Infinity, uptimeMs: 0 };
  return {
    nowMs() {
      const now = wallMs();
      const isSameStep = now >= last.wallMs && now < last.wallMs + uptimeStepMs;
      if (!isSameStep) last = { wallMs: now, uptimeMs: uptimeMs() };
      return last.uptimeMs;
    },
    after: (delayMs, run) => systemClock.after(delayMs, run),
  };
}

const uptimeStepMs = 10;
