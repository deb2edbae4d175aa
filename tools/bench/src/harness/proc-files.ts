// SPDX-License-Identifier: Apache-2.0
/** Parses /proc/<pid>/stat, /proc/<pid>/status and /proc/stat (proc(5)). Pure. */
import { BenchError } from "./run-control.ts";

/** From /proc/<pid>/stat. */
export interface ProcStat {
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
export interface ProcMemory {
  readonly rssMb: number;
  /** The largest RSS so far. */
  readonly peakMb: number;
}

// USER_HZ is 100 on every architecture that Node supports, independent of the kernel's HZ.
const ticksPerSecond = 100;

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
export function parseBusySeconds(text: string): number {
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
