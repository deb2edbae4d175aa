// SPDX-License-Identifier: Apache-2.0
/**
 * What the kernel alone needs: the writes of sriov_numvfs that the changes come to, by a shell, in the same guest.
 * Usage: `bestOf(await measureKernel(guest, run.signal), await measureKernel(guest, run.signal))`
 */
import type { Guest } from "@switchyard/vm-lab";
import { BenchError } from "../harness/bench-error.ts";

/** Titles of the changes that the kernel is asked for alone, too. */
export const guestChanges = {
  zeroToFour: "0 -> 4 on one PF",
  fourToSix: "4 -> 6 on one PF",
  sixToZero: "6 -> 0 on one PF",
  twoPfs: "0 -> 4 on two PFs",
} as const;

/** Of one change. */
export interface KernelTime {
  /** The writes alone. */
  readonly seconds: number;
  /** Until udev has named the interfaces, too, which the daemon has to wait for. */
  readonly withUdevSeconds: number;
}

/** By the change's title. */
export type KernelTimes = Readonly<Record<string, KernelTime>>;

/** Starts and ends without VFs. What is between two times is nothing but the writes: `read` and `echo` are the shell's own. */
const script = `
set -e
pf0=/sys/bus/pci/devices/0000:01:00.0/sriov_numvfs
pf1=/sys/bus/pci/devices/0000:01:00.1/sriov_numvfs
now() { read -r now _ </proc/uptime; }
tell() { now; wrote=$now; udevadm settle; now; echo "$1 $begin $wrote $now"; sleep 2; }
udevadm settle; sleep 2
now; begin=$now; echo 4 >$pf0; tell zeroToFour
now; begin=$now; echo 0 >$pf0; echo 6 >$pf0; tell fourToSix
now; begin=$now; echo 0 >$pf0; tell sixToZero
now; begin=$now; echo 4 >$pf0 & echo 4 >$pf1; wait; tell twoPfs
echo 0 >$pf0; echo 0 >$pf1; udevadm settle; sleep 2
`;

/** Rejects with BenchError `platform` where the guest's kernel refuses. */
export async function measureKernel(guest: Guest, signal: AbortSignal): Promise<KernelTimes> {
  const { code, stdout, stderr } = await guest.exec(script, { timeoutMs: 300_000, signal });
  if (code !== 0) throw new BenchError("platform", `setting sriov_numvfs in the guest: ${stderr}`);
  return parseTimes(stdout);
}

/** Of two measurements, the lower of each: other work on the machine only adds. */
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

/** Reads lines such as "zeroToFour 81.20 82.31 82.60": begin, the end of the writes, the end of udev's work. */
export function parseTimes(text: string): KernelTimes {
  const lines = text.split("\n").filter((line) => line !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [name = "", ...times] = line.split(" ");
      const [begin = Number.NaN, wrote = Number.NaN, settled = Number.NaN] = times.map(Number);
      const title = Object.entries(guestChanges).find(([id]) => id === name)?.[1];
      if (title === undefined || !(begin <= wrote && wrote <= settled)) {
        throw new BenchError("platform", `the guest said "${line}"`);
      }
      return [title, { seconds: wrote - begin, withUdevSeconds: settled - begin }];
    }),
  );
}
