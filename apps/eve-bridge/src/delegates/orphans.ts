// SPDX-License-Identifier: Apache-2.0
/**
 * Delegated plugins whose eve-bridge was killed run on: a `bridge` ADD that ends after our DEL would leave an interface.
 * They carry a mark in their environment, so who takes over finds and ends them first.
 * Usage: `await killOrphans({ containerId, ifName }, { timeoutMs: 2_000 })`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { CniError, cniCode } from "../request/cni-error.ts";
import { deadlineIn, nowMs, sleep } from "../process/deadline.ts";

/** Whose delegates. */
export interface Attachment {
  readonly containerId: string;
  readonly ifName: string;
}

const markVariable = "EVE_BRIDGE_DELEGATE_OF";

/** What the environment of a delegate has beyond ours; its own children inherit it. */
export function delegateMark(attachment: Attachment): Readonly<Record<string, string>> {
  return { [markVariable]: markOf(attachment) };
}

/**
 * Ends the delegates of an attachment that are still running, and returns how many there were. Only for who holds the
 * attachment's lock: then none of them has an eve-bridge that still waits for it. Throws code 11 when one does not go.
 */
export async function killOrphans(attachment: Attachment, { timeoutMs }: { timeoutMs: number }): Promise<number> {
  const deadline = deadlineIn(timeoutMs);
  const seen = new Set<number>();
  for (;;) {
    const running = findDelegates(markOf(attachment));
    if (running.length === 0) return seen.size;
    if (nowMs() >= deadline.endMs) {
      throw new CniError(cniCode.tryAgain, `process ${running.join(", ")} of an earlier call does not end`);
    }
    for (const pid of running) {
      seen.add(pid);
      kill(pid);
    }
    await sleep(5);
  }
}

function findDelegates(mark: string): number[] {
  const wanted = `${markVariable}=${mark}`;
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => environmentOf(pid).includes(wanted))
    .map(Number)
    .filter((pid) => pid !== process.pid);
}

/** Empty for processes that are gone, wait to be reaped, or are not ours to read. */
function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended meanwhile
  }
}

function markOf({ containerId, ifName }: Attachment): string {
  return `${containerId}/${ifName}`;
}
