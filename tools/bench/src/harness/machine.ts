// SPDX-License-Identifier: Apache-2.0
/**
 * readLoad measures the CPU time of this process with its descendants, and of all other processes. Two durations can be
 * compared only if the other processes used about the same CPU time.
 */
import { readdirSync, readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { join } from "node:path";
import { parseBusySeconds, parseStat } from "./proc-files.ts";

export interface LoadReading {
  readonly atMs: number;
  /** CPU time of the whole machine. */
  readonly busySeconds: number;
  /** CPU time of this process and its descendants, including those that have ended. */
  readonly ownSeconds: number;
}

/** readMachine describes the machine of a run, for the report. */
export interface MachineDescription {
  readonly processor: string;
  readonly processors: number;
  readonly memoryMb: number;
  readonly kernel: string;
  readonly node: string;
  /** Load average of the minute before the run. */
  readonly loadBefore: number;
}

/** `procRoot` is for tests. */
export function readLoad(root = process.pid, procRoot = "/proc"): LoadReading {
  const stats = readdirSync(procRoot)
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const text = readIfThere(join(procRoot, name, "stat"));
      return text === undefined ? [] : [{ pid: Number(name), ...parseStat(text) }];
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

/** A process may end while the directory is read. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

export function readMachine(): MachineDescription {
  const all = cpus();
  return {
    processor: all[0]?.model ?? "unknown",
    processors: all.length,
    memoryMb: Math.round(totalmem() / 2 ** 20),
    kernel: release(),
    node: process.version,
    loadBefore: loadavg()[0] ?? 0,
  };
}

/** "AMD EPYC x 2, 24104 MB, Linux 6.18.5, Node v24.21.0, load 0.4" */
export function describeMachine(machine: MachineDescription): string {
  const { processor, processors, memoryMb, kernel, node, loadBefore } = machine;
  return `${processor} x ${processors}, ${memoryMb} MB, Linux ${kernel}, Node ${node}, load ${loadBefore.toFixed(1)}`;
}
