// SPDX-License-Identifier: Apache-2.0
/**
 * bootClock measures the time since boot; lease deadlines and cache ages use it. Changes of the wall clock do not affect it.
 * Unlike timers and performance.now() (CLOCK_MONOTONIC on Linux) it continues while the machine is suspended, so a leader
 * that resumes knows that its lease has expired. It cannot see that a hypervisor paused a virtual machine.
 * Usage: `const startMs = bootClock.nowMs()`.
 */
import { uptime } from "node:os";
import { systemClock, type Clock } from "../clock.ts";

/** The two clocks of the machine that a boot clock reads. */
export interface MachineClocks {
  /** Time since boot, with suspends, in steps of 10 ms. Slow to read: /proc/uptime adds up the idle time of all CPUs. */
  readonly uptimeMs: () => number;
  /** Wall clock. It can be set, but it continues during a suspend. */
  readonly wallMs: () => number;
}

/** The boot clock of this machine, in steps of about 10 ms. Its timers stop during a suspend, so read it when they fire. */
export const bootClock: Clock = createBootClock({ uptimeMs: () => uptime() * 1000, wallMs: Date.now });

/** Makes a boot clock. It reads the uptime only once per step, since each of a thousand writes per second reads the clock. */
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
