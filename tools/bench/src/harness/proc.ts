// SPDX-License-Identifier: Apache-2.0
/**
 * Reads what processes use from /proc (proc(5)), which does not affect them: one process, this process with its descendants, and
 * the whole machine.
 */
import { readdirSync, readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { join } from "node:path";
import { BenchError, pause } from "./run.ts";

/** What a process uses. */
export type ProcessReading = ProcStat & ProcMemory;

// USER_HZ is 100 on every architecture that Node supports, independent of the kernel's HZ.
const ticksPerSecond = 100;

/** From /proc/<pid>/stat. */
interface ProcStat {
  readonly parentPid: number;
  /** User and system time of the process itself, in steps of 10 ms. */
  readonly cpuSeconds: number;
  /** The same for its children that have ended and were waited for. */
  readonly childCpuSeconds: number;
  /**
   * Page faults of those children. No process runs without a page fault, so while this number is constant, no child has
   * ended. Listing the process table instead would miss short-lived children.
   */
  readonly childFaults: number;
}

/** From /proc/<pid>/status. */
interface ProcMemory {
  readonly rssMb: number;
  /** The largest RSS so far. */
  readonly peakMb: number;
}

/** Throws BenchError `ended` if the process has ended. */
export function readProcess(pid: number): ProcessReading {
  try {
    return { ...parseStat(readFileSync(`/proc/${pid}/stat`, "utf8")), ...readMemory(pid) };
  } catch (cause) {
    throw new BenchError("ended", `process ${pid} has ended`, cause);
  }
}

/** Throws if the process has ended. */
export function readMemory(pid: number): ProcMemory {
  return parseMemory(readFileSync(`/proc/${pid}/status`, "utf8"));
}

/** How long a process must have used almost no CPU time to count as idle, and the time limit of the wait. */
export interface IdleOptions {
  readonly quietMs?: number;
  readonly withinMs?: number;
}

/** Waits until the process is idle, because its work after the last visible effect belongs to the measurement, too. */
export async function untilIdle(
  program: { read(): ProcessReading | Promise<ProcessReading> },
  signal: AbortSignal,
  { quietMs = 600, withinMs = 20_000 }: IdleOptions = {},
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let before = (await program.read()).cpuSeconds; performance.now() < deadline;) {
    await pause(quietMs, signal);
    const after = (await program.read()).cpuSeconds;
    if (after - before <= restingShare * (quietMs / 1000)) return;
    before = after;
  }
}

// Two ticks of 10 ms in the 600 ms of the default: timers and lease renewals never stop.
const restingShare = 0.04;

/** Throws BenchError `platform`. */
export function parseStat(text: string): ProcStat {
  // The process name in parentheses may contain blanks and parentheses, so start after the last one, with field 3.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const field = (number: number) => wholeNumber(fields[number - 3], `field ${number} of /proc/<pid>/stat`);
  return {
    parentPid: field(4),
    cpuSeconds: (field(14) + field(15)) / ticksPerSecond,
    childCpuSeconds: (field(16) + field(17)) / ticksPerSecond,
    childFaults: field(11),
  };
}

/** CPU time of the whole machine, from /proc/stat. Throws BenchError `platform`. */
function parseBusySeconds(text: string): number {
  const [user, nice, system, , , irq, softIrq] = /^cpu\s+(.*)$/m.exec(text)?.[1]?.split(" ") ?? [];
  const busy = [user, nice, system, irq, softIrq].map((ticks) => wholeNumber(ticks, "/proc/stat"));
  return busy.reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond;
}

/** Throws BenchError `platform`. */
export function parseMemory(text: string): ProcMemory {
  const inMb = (name: string) => {
    const [, kb] = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text) ?? [];
    return wholeNumber(kb, `${name} of /proc/<pid>/status`) / 1024;
  };
  return { rssMb: inMb("VmRSS"), peakMb: inMb("VmHWM") };
}

function wholeNumber(text: string | undefined, what: string): number {
  if (text !== undefined && /^-?\d+$/.test(text)) return Number(text);
  throw new BenchError(
    "platform",
    `cannot read ${what}: it is ${text ?? "missing"}, expected a number; the benchmarks need Linux`,
  );
}

interface LoadReading {
  readonly atMs: number;
  /** CPU time of the whole machine. */
  readonly busySeconds: number;
  /** CPU time of this process and its descendants, including those that have ended. */
  readonly ownSeconds: number;
}

/**
 * Reads the CPU time of this process with its descendants, and of all other processes. Two durations can be compared only if the
 * other processes used about the same CPU time. `procRoot` is for tests.
 */
export function readLoad(root = process.pid, procRoot = "/proc"): LoadReading {
  const stats = readdirSync(procRoot)
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [{ pid: Number(name), ...parseStat(readFileSync(join(procRoot, name, "stat"), "utf8")) }];
      } catch {
        return []; // it has ended since the directory was read
      }
    });
  const own = new Set([root]);
  // A parent may have a higher pid than its children, so repeat until no process is added.
  for (let size = 0; size !== own.size;) {
    size = own.size;
    for (const { pid, parentPid } of stats) if (own.has(parentPid)) own.add(pid);
  }
  return {
    atMs: performance.now(),
    busySeconds: parseBusySeconds(readFileSync(join(procRoot, "stat"), "utf8")),
    ownSeconds: stats
      .filter(({ pid }) => own.has(pid))
      .reduce((sum, { cpuSeconds, childCpuSeconds }) => sum + cpuSeconds + childCpuSeconds, 0),
  };
}

/** The CPU time used between two readings. */
export interface Load {
  /** CPU time of this process and its descendants, which other work on the machine hardly affects. */
  readonly ownSeconds: number;
  /** The average number of processors that other processes used. */
  readonly othersBusy: number;
}

export function loadBetween(before: LoadReading, after: LoadReading): Load {
  const ownSeconds = after.ownSeconds - before.ownSeconds;
  const othersSeconds = after.busySeconds - before.busySeconds - ownSeconds;
  return { ownSeconds, othersBusy: Math.max(0, othersSeconds / ((after.atMs - before.atMs) / 1000)) };
}

/** Describes the machine for the report: "AMD EPYC x 2, 24104 MB, Linux 6.18.5, Node v24.21.0, load 0.4". */
export function describeMachine(): string {
  const processors = cpus();
  const model = `${processors[0]?.model ?? "unknown"} x ${processors.length}`;
  const load = loadavg()[0] ?? 0; // of the minute before
  return `${model}, ${Math.round(totalmem() / 2 ** 20)} MB, Linux ${release()}, Node ${process.version}, load ${load.toFixed(1)}`;
}
