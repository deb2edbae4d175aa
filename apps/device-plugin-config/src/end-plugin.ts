// SPDX-License-Identifier: Apache-2.0
/**
 * Has the plugin start anew: it reads its configuration when it starts and never again.
 *
 * On SIGTERM it ends in order, and as well on SIGHUP, SIGINT and SIGQUIT: it ends its servers, removes their sockets and
 * device information files, and exits with 0 (v0.0.0-20221127172732-a5a7395122e3, cmd/sriovdp/main.go; those before and
 * since do the same). Whoever started it starts it again: the command of its container, or the kubelet.
 *
 * Its pod shares one process namespace, so that what is seen here is the pod's own. A pod with the host's processes would
 * show other pods' plugins as well: that is not for this.
 *
 * Usage: `const pids = await endPlugin("sriovdp")`.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { kill } from "node:process";

/** The kernel keeps so much of a process's name. */
const maxNameLength = 15;

/**
 * Sends SIGTERM to the processes of this name, and answers their ids. None: then it starts later, with what is there then.
 * Rejects with EPERM where a process may not be signalled.
 */
export async function endPlugin(name: string): Promise<readonly number[]> {
  const ended: number[] = [];
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry) || (await nameOf(entry)) !== name.slice(0, maxNameLength)) continue;
    if (signal(Number(entry))) ended.push(Number(entry));
  }
  return ended;
}

/** /proc/PID/exe would say more, but only to those who could trace the process, which is privileged. */
async function nameOf(pid: string): Promise<string | undefined> {
  try {
    return (await readFile(join("/proc", pid, "comm"), "utf8")).trimEnd();
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ESRCH") return undefined;
    throw error;
  }
}

/** Whether it was still there. */
function signal(pid: number): boolean {
  try {
    return kill(pid, "SIGTERM");
  } catch (error) {
    if (codeOf(error) === "ESRCH") return false;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
