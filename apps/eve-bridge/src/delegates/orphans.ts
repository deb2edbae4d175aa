// SPDX-License-Identifier: Apache-2.0
/**
 * killOrphans kills delegated plugins that outlived their eve-bridge: a `bridge` ADD that ends after the DEL would leave
 * an interface. It finds them by a variable in their environment.
 */
import { readdirSync, readFileSync } from "node:fs";
import { CniError, cniCode } from "../request/cni-error.ts";
import { deadlineIn, nowMs, sleep } from "../process/deadline.ts";
import type { Attachment } from "../state/attachment-record.ts";

const markVariable = "EVE_BRIDGE_DELEGATE_OF";

/** The variable that marks the environment of a delegated plugin and its children. */
export function delegateMark(attachment: Attachment): Readonly<Record<string, string>> {
  return { [markVariable]: markOf(attachment) };
}

/**
 * Kills the delegated plugins of an attachment that are still running, and returns their number. The caller must hold the
 * attachment's lock: then no other eve-bridge waits for them. Throws code 11 when one of them does not end.
 */
export async function killOrphans(attachment: Attachment, { timeoutMs }: { timeoutMs: number }): Promise<number> {
  const deadline = deadlineIn(timeoutMs);
  const seen = new Set<number>();
  for (;;) {
    const running = findDelegates(markOf(attachment));
    if (running.length === 0) return seen.size;
    if (nowMs() >= deadline.endMs) {
      throw new CniError(cniCode.tryAgain, `processes of an earlier call do not end: ${running.join(", ")}`);
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

/** Empty for processes that have ended, are zombies, or cannot be read. */
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
    // The process has ended.
  }
}

function markOf({ containerId, ifName }: Attachment): string {
  return `${containerId}/${ifName}`;
}
