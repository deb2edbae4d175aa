// SPDX-License-Identifier: Apache-2.0
/**
 * The clock that leases are counted by: time since boot, which no step of the wall clock moves. Unlike the clock of
 * timers and performance.now() (CLOCK_MONOTONIC on Linux) it goes on while the machine sleeps; a leader that wakes up
 * must know that its lease ran out meanwhile. What it cannot see is a virtual machine that was stopped from outside.
 * Usage: `runWhenLeading({ clock: bootClock, ... })`, which is the default.
 */
import { uptime } from "node:os";
import { systemClock, type Clock } from "./clock.ts";

/** In steps of 10 ms (/proc/uptime, 7 µs a look). Its timers stand still with the machine, so look again when they run. */
export const bootClock: Clock = {
  nowMs: () => uptime() * 1000,
  after: (delayMs, run) => systemClock.after(delayMs, run),
};
