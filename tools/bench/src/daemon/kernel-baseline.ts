// SPDX-License-Identifier: Apache-2.0
/**
 * measureKernel measures the time that the kernel alone needs: a shell in the guest makes the writes to sriov_numvfs
 * that the daemon makes.
 */
import type { Guest } from "@switchyard/vm-lab";
import { BenchError } from "../harness/run-control.ts";

/** Titles of the changes that are also measured without the daemon. */
export const guestChanges = {
  zeroToFour: "0 -> 4 on one PF",
  fourToSix: "4 -> 6 on one PF",
  sixToZero: "6 -> 0 on one PF",
  twoPfs: "0 -> 4 on two PFs",
} as const;

/** The times of one change. */
export interface KernelTime {
  /** Seconds of the writes. */
  readonly seconds: number;
  /** Seconds until udev has named the interfaces, which the daemon must wait for. */
  readonly withUdevSeconds: number;
}

/** The times by the title of the change. */
export type KernelTimes = Readonly<Record<string, KernelTime>>;

/**
 * A script that starts and ends without VFs. `read` and `echo` are built into the shell, so it measures only the
 * writes. The links are up, as the daemon sets them before it creates VFs: igb then takes its port down and up again with
 * each write, for over a second.
 */
const script = `
set -e
pf0=/sys/bus/pci/devices/0000:01:00.0/sriov_numvfs
pf1=/sys/bus/pci/devices/0000:01:00.1/sriov_numvfs
now() { read -r now _ </proc/uptime; }
tell() { now; wrote=$now; udevadm settle; now; echo "$1 $begin $wrote $now"; sleep 2; }
link() { for device in 0000:01:00.0 0000:01:00.1; do ip link set $(ls /sys/bus/pci/devices/$device/net) $1; done; }
udevadm settle; link up; sleep 2
now; begin=$now; echo 4 >$pf0; tell zeroToFour
now; begin=$now; echo 0 >$pf0; echo 6 >$pf0; tell fourToSix
now; begin=$now; echo 0 >$pf0; tell sixToZero
now; begin=$now; echo 4 >$pf0 & echo 4 >$pf1; wait; tell twoPfs
echo 0 >$pf0; echo 0 >$pf1; link down; udevadm settle; sleep 2
`;

/** Runs the script. Rejects with BenchError `platform` if the guest's kernel refuses a write. */
export async function measureKernel(guest: Guest, signal: AbortSignal): Promise<KernelTimes> {
  const { code, stdout, stderr } = await guest.exec(script, { timeoutMs: 300_000, signal });
  if (code !== 0) throw new BenchError("platform", `cannot set sriov_numvfs in the guest: ${stderr}`);
  return parseTimes(stdout);
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
export function parseTimes(text: string, titles: Readonly<Record<string, string>> = guestChanges): KernelTimes {
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
