// SPDX-License-Identifier: Apache-2.0
/** The baseline of the daemon: a shell script in the guest that makes the same changes without the daemon. */
import type { Guest } from "@switchyard/vm-lab";
import { BenchError } from "../../harness/run.ts";

export interface Baseline {
  /** It starts and ends without VFs, and prints a line for each change (see parseTimes). */
  readonly script: string;
  /** Titles of the changes by their names in the output of the script. */
  readonly titles: Readonly<Record<string, string>>;
}

/** The times of one change. */
export interface KernelTime {
  /** Seconds of the writes. */
  readonly seconds: number;
  /** Seconds until udev has named the interfaces, which the daemon must wait for. */
  readonly withUdevSeconds: number;
}

/** The times by the title of the change. */
export type KernelTimes = Readonly<Record<string, KernelTime>>;

/** Runs the script. Rejects with BenchError `platform` if a command of it fails. */
export async function measureBaseline(
  guest: Guest,
  { script, titles }: Baseline,
  signal: AbortSignal,
): Promise<KernelTimes> {
  return parseTimes(await runInGuest(guest, script, signal), titles);
}

/** Returns the output. Rejects with BenchError `platform` if the script fails. */
export async function runInGuest(guest: Guest, script: string, signal: AbortSignal): Promise<string> {
  const { code, stdout, stderr } = await guest.exec(script, { timeoutMs: 300_000, signal });
  if (code !== 0) throw new BenchError("platform", `a script failed in the guest with ${code}: ${stderr}`);
  return stdout;
}

/** The lower time of two measurements for each change, because other work on the machine only adds to it. */
export function bestOf(a: KernelTimes, b: KernelTimes): KernelTimes {
  return Object.fromEntries(
    Object.entries(a).map(([title, time]) => {
      const { seconds, withUdevSeconds } = b[title] ?? time;
      const best = {
        seconds: Math.min(time.seconds, seconds),
        withUdevSeconds: Math.min(time.withUdevSeconds, withUdevSeconds),
      };
      return [title, best];
    }),
  );
}

/**
 * Parses lines such as "zeroToFour 81.20 82.31 82.60": the start, the end of the writes, the end of udev's work. `titles` has the
 * titles of the changes by these names.
 */
export function parseTimes(text: string, titles: Readonly<Record<string, string>>): KernelTimes {
  const lines = text.split("\n").filter((line) => line !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [name = "", ...times] = line.split(" ");
      const [begin = Number.NaN, wrote = Number.NaN, settled = Number.NaN] = times.map(Number);
      const title = Object.entries(titles).find(([id]) => id === name)?.[1];
      if (title === undefined || !(begin <= wrote && wrote <= settled)) {
        throw new BenchError("platform", `the guest printed the invalid line "${line}"`);
      }
      return [title, { seconds: wrote - begin, withUdevSeconds: settled - begin }];
    }),
  );
}
