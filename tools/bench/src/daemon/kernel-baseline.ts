// SPDX-License-Identifier: Apache-2.0
/**
 * What the kernel alone needs: the writes of sriov_numvfs that the changes come to, by a shell, in the same guest.
 * Usage: `bestOf(await measureKernel(guest, run.signal), await measureKernel(guest, run.signal))`
 */
import type { Guest } from "@switchyard/vm-lab";
import { BenchError } from "../bench-error.ts";

/** Titles of the changes that the kernel is asked for alone, too. */
export const guestChanges = {
  zeroToFour: "0 -> 4 on one PF",
  fourToSix: "4 -> 6 on one PF",
  sixToZero: "6 -> 0 on one PF",
  twoPfs: "0 -> 4 on two PFs",
} as const;

/** Seconds by title. */
export type KernelSeconds = Readonly<Record<string, number>>;

/** Starts and ends without VFs. What is between two times is nothing but the writes: `read` and `echo` are the shell's own. */
const script = `
set -e
pf0=/sys/bus/pci/devices/0000:01:00.0/sriov_numvfs
pf1=/sys/bus/pci/devices/0000:01:00.1/sriov_numvfs
now() { read -r now _ </proc/uptime; }
rest() { udevadm settle; sleep 2; }
rest
now; begin=$now; echo 4 >$pf0; now; echo "zeroToFour $begin $now"
rest
now; begin=$now; echo 0 >$pf0; echo 6 >$pf0; now; echo "fourToSix $begin $now"
rest
now; begin=$now; echo 0 >$pf0; now; echo "sixToZero $begin $now"
rest
now; begin=$now; echo 4 >$pf0 & echo 4 >$pf1; wait; now; echo "twoPfs $begin $now"
rest
echo 0 >$pf0; echo 0 >$pf1
rest
`;

/** Rejects with BenchError `platform` where the guest's kernel refuses. */
export async function measureKernel(guest: Guest, signal: AbortSignal): Promise<KernelSeconds> {
  const { code, stdout, stderr } = await guest.exec(script, { timeoutMs: 300_000, signal });
  if (code !== 0) throw new BenchError("platform", `setting sriov_numvfs in the guest: ${stderr}`);
  return parseTimes(stdout);
}

/** Of two measurements, the lower of each: other work on the machine only adds. */
export function bestOf(a: KernelSeconds, b: KernelSeconds): KernelSeconds {
  return Object.fromEntries(
    Object.entries(a).map(([title, seconds]) => [title, Math.min(seconds, b[title] ?? Infinity)]),
  );
}

/** Reads lines such as "zeroToFour 81.20 82.31". */
export function parseTimes(text: string): KernelSeconds {
  const lines = text.split("\n").filter((line) => line !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [name = "", begin, end] = line.split(" ");
      const title = Object.entries(guestChanges).find(([id]) => id === name)?.[1];
      const seconds = Number(end) - Number(begin);
      if (title === undefined || !(seconds >= 0)) throw new BenchError("platform", `the guest said "${line}"`);
      return [title, seconds];
    }),
  );
}
