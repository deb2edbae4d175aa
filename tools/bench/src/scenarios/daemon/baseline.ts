// SPDX-License-Identifier: Apache-2.0
/** The baseline of the daemon: a shell script in the guest that makes the same changes without the daemon. */
import type { Guest } from "@switchyard/vm-lab";
import { BenchError } from "../../harness/run.ts";

/** The times of one change. */
export interface KernelTime {
  /** Seconds of the writes. */
  readonly seconds: number;
  /** Seconds until udev has named the interfaces, which the daemon must wait for. */
  readonly withUdevSeconds: number;
}

/** The times by the title of the change. */
export type KernelTimes = Readonly<Record<string, KernelTime>>;

/** Returns the output. Rejects with BenchError `platform` if the script fails. */
export async function runInGuest(guest: Guest, script: string, signal: AbortSignal): Promise<string> {
  const { code, stdout, stderr } = await guest.exec(script, { timeoutMs: 300_000, signal });
  if (code !== 0) throw new BenchError("platform", `in the guest, ${script}: ${code}, ${stderr}`);
  return stdout;
}

/** The lower time of two measurements for each change, because other work on the machine only adds to it. */
export function bestOf(a: KernelTimes, b: KernelTimes): KernelTimes {
  const lower = (one: KernelTime, other: KernelTime): KernelTime => ({
    seconds: Math.min(one.seconds, other.seconds),
    withUdevSeconds: Math.min(one.withUdevSeconds, other.withUdevSeconds),
  });
  return Object.fromEntries(Object.entries(a).map(([title, time]) => [title, lower(time, b[title] ?? time)]));
}

/** Parses lines such as "81.20 82.31 82.60 0 -> 4": the start, the end of the writes, the end of udev's work, and the title. */
export function parseTimes(text: string): KernelTimes {
  const lines = text.split("\n").filter((line) => line !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [, times = "", title = ""] = /^((?:[\d.]+ ){3})(.+)$/.exec(line) ?? [];
      const [begin = Number.NaN, wrote = Number.NaN, settled = Number.NaN] = times.split(" ").map(Number);
      if (begin <= wrote && wrote <= settled)
        return [title, { seconds: wrote - begin, withUdevSeconds: settled - begin }];
      throw new BenchError("platform", `the guest printed the invalid line "${line}"`);
    }),
  );
}
