// SPDX-License-Identifier: Apache-2.0
/**
 * findNode finds a process of Node.js by one of its arguments, and usageOf reads what it uses. Programs that tests start restart themselves
 * with other flags, and a shell guards them, so the process that a test has started is another one.
 */
import { readdir, readFile } from "node:fs/promises";

export interface ProcessUsage {
  readonly rssMiB: number;
  /** Most resident memory since the start. */
  readonly peakMiB: number;
  /** Number of open files and sockets. */
  readonly descriptors: number;
}

/** Returns the process id of the one that has an argument with this beginning. Rejects if there is none. */
export async function findNode(argument: string): Promise<number> {
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const [command = "", ...args] = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
    if (!command.endsWith("node") || !args.some((each) => each.startsWith(argument))) continue;
    return Number(pid);
  }
  throw new Error(`no process of Node.js has the argument ${argument}`);
}

/** Rejects if the process has ended. */
export async function usageOf(pid: number): Promise<ProcessUsage> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return {
    rssMiB: mebibytes(status, "VmRSS"),
    peakMiB: mebibytes(status, "VmHWM"),
    descriptors: (await readdir(`/proc/${pid}/fd`)).length,
  };
}

function mebibytes(status: string, field: string): number {
  const line = status.split("\n").find((each) => each.startsWith(`${field}:`)) ?? "";
  return Math.round(Number(line.split(/\s+/)[1] ?? 0) / 1024);
}
