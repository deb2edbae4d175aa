// SPDX-License-Identifier: Apache-2.0
/**
 * reportHang asks a guest in which a process hangs what its processors and tasks do. A processor whose timer is lost still answers,
 * but what sleeps there never wakes.
 */
import { setTimeout as delay } from "node:timers/promises";

/** Runs a command in the guest. Resolves with its output, or with undefined if there is none within some seconds. Never rejects. */
export type AskGuest = (command: string) => Promise<string | undefined>;

export interface HangReport {
  /** Whether a processor has no timer interrupts, which is a fault of QEMU. */
  readonly isStalled: boolean;
  /** Some lines for an error message. */
  readonly text: string;
}

/** Counts the timer interrupts for `countMs` milliseconds. The kernel of the guest has 250 in each second (nohz=off). */
export async function reportHang(ask: AskGuest, countMs = 3_000): Promise<HangReport> {
  const before = await ask(readInterrupts);
  if (before === undefined) return { isStalled: false, text: "the guest does not answer other commands either" };
  await delay(countMs);
  const counts = timerInterrupts(before, (await ask(readInterrupts)) ?? "");
  const tasks = (await ask(listTasks)) ?? "no answer";
  return {
    isStalled: counts.includes(0),
    text: [
      `timer interrupts of each processor in ${countMs / 1000} s: ${counts.join(", ") || "not known"}`,
      "tasks (state, where they wait), and the kernel's stack of those that wait for it or run:",
      tasks.slice(0, longestList),
    ].join("\n"),
  };
}

/** Returns the number of local timer interrupts of each processor between two readings of /proc/interrupts; empty if not known. */
export function timerInterrupts(before: string, after: string): readonly number[] {
  const [first, second] = [countsOf(before), countsOf(after)];
  if (first.length !== second.length) return [];
  return second.map((count, processor) => count - (first[processor] ?? 0));
}

function countsOf(interrupts: string): readonly number[] {
  const [, counts = ""] = /^\s*LOC:((?:\s+\d+)+)/m.exec(interrupts) ?? [];
  return counts.split(/\s+/).filter(Boolean).map(Number);
}

const readInterrupts = "cat /proc/interrupts";

/**
 * First the tasks that wait for the kernel or run, since the list is cut, then those of programs that sleep. Kernel threads that sleep
 * are left out. Few greps, since each process that the guest starts takes long.
 */
const listTasks = `all='/proc/[0-9]*/task/[0-9]*/status'
{ grep -lE '^State:.[DR]' $all; grep -l ^VmSize $(grep -LE '^State:.[DR]' $all); } | while read -r file; do
task=\${file%/status}
state=$(grep -o '^State:..' "$file")
echo "$task \${state#State:?} $(cat "$task/wchan") $(cat "$task/comm")"
case $state in *[DR]) cat "$task/stack" ;; esac
done 2>/dev/null`;

/** In characters. */
const longestList = 6_000;
