// SPDX-License-Identifier: Apache-2.0
/**
 * ProcessMeter reads the CPU time and the memory of a running process from /proc, which does not affect the process.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BenchError, pause } from "./run-control.ts";
import { parseMemory, parseStat, type ProcMemory, type ProcStat } from "./proc-files.ts";

export type ProcessReading = ProcStat & ProcMemory;

export interface ProcessMeter {
  /** Throws BenchError `ended` if the process has ended. */
  read(): ProcessReading;
}

/** `procRoot` is for tests. */
export function createProcessMeter(pid: number, procRoot = "/proc"): ProcessMeter {
  const file = (name: string): string => {
    try {
      return readFileSync(join(procRoot, String(pid), name), "utf8");
    } catch (cause) {
      throw new BenchError("ended", `process ${pid} has ended`, cause);
    }
  };
  return { read: () => ({ ...parseStat(file("stat")), ...parseMemory(file("status")) }) };
}

/** How long a process must have used almost no CPU time to count as idle, and the time limit of the wait. */
export interface IdleOptions {
  readonly quietMs?: number;
  readonly withinMs?: number;
}

/** Waits until the process is idle, because its work after the last visible effect belongs to the measurement, too. */
export async function untilIdle(
  meter: { read(): ProcessReading | Promise<ProcessReading> },
  signal: AbortSignal,
  { quietMs = 600, withinMs = 20_000 }: IdleOptions = {},
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let before = (await meter.read()).cpuSeconds; performance.now() < deadline;) {
    await pause(quietMs, signal);
    const after = (await meter.read()).cpuSeconds;
    if (after - before <= restingShare * (quietMs / 1000)) return;
    before = after;
  }
}

// Two ticks of 10 ms in the 600 ms of the default: timers and lease renewals never stop.
const restingShare = 0.04;
