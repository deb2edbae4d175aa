// SPDX-License-Identifier: Apache-2.0
/**
 * How many processors others keep busy meanwhile: two times taken one after the other compare only if both had the same
 * machine. Ours is this process and all that it has started.
 * Usage: `const before = readLoad(); …; otherProcessors(before, readLoad())` is 0.3 on a machine that is almost ours.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseBusySeconds, parseStat } from "./proc-files.ts";

export interface LoadReading {
  readonly atMs: number;
  /** CPU time of the whole machine. */
  readonly busySeconds: number;
  /** Of this process and its descendants, those that have ended included. */
  readonly ownSeconds: number;
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
  // Parents may have higher pids than their children: look until nothing is added.
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

/** On average, from 0 to the number of processors. */
export function otherProcessors(before: LoadReading, after: LoadReading): number {
  const busy = after.busySeconds - before.busySeconds;
  const own = after.ownSeconds - before.ownSeconds;
  return Math.max(0, (busy - own) / ((after.atMs - before.atMs) / 1000));
}

/** A process may end while the directory is read. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
