// SPDX-License-Identifier: Apache-2.0
/**
 * What /proc/<pid>/stat and /proc/<pid>/status say of a process (proc(5)). Pure.
 * Usage: `parseStat(readFileSync("/proc/self/stat", "utf8")).cpuSeconds`
 */
import { BenchError } from "./bench-error.ts";

/** From /proc/<pid>/stat. */
export interface ProcStat {
  readonly parentPid: number;
  /** User and system time of the process itself; counted in steps of 10 ms. */
  readonly cpuSeconds: number;
  /** The same of its children that have ended and been waited for. */
  readonly childCpuSeconds: number;
  /**
   * Page faults of those children: a process cannot run without one, so as long as this number stays, none ended. It
   * tells "no forks" exactly, where looking at the process table would miss short ones.
   */
  readonly childFaults: number;
}

/** From /proc/<pid>/status. */
export interface ProcMemory {
  readonly rssMb: number;
  /** The largest RSS so far. */
  readonly peakMb: number;
}

// USER_HZ: 100 in the kernel's ABI on every architecture that Node runs on, whatever the kernel's own HZ is.
const ticksPerSecond = 100;

/** Throws BenchError `platform`. */
export function parseStat(text: string): ProcStat {
  // The name in parentheses may hold blanks and parentheses: fields are counted from the last one on, from 3.
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
  throw new BenchError("platform", `${what} is ${text ?? "missing"}: is this Linux?`);
}
