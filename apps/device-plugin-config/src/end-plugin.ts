// SPDX-License-Identifier: Apache-2.0
/**
 * endPlugin ends the device plugin, which then starts again and reads its configuration. The plugin reads it only at its
 * start.
 *
 * On SIGTERM, SIGHUP, SIGINT and SIGQUIT the plugin stops its servers, removes their sockets and device information files, and
 * exits with code 0 (v0.0.0-20221127172732-a5a7395122e3, cmd/sriovdp/main.go; older and newer versions do the same). The
 * command of its container, or the kubelet, starts it again.
 *
 * The pod shares one process namespace, so only processes of the pod are visible here. In a pod with the processes of the
 * host, this would also end the plugins of other pods.
 */
import { isErrno } from "@switchyard/service";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { kill } from "node:process";

/** The kernel stores this many characters of the name of a process. */
const maxNameLength = 15;

/**
 * Sends SIGTERM to the processes with this name, and returns their ids. Without such a process it does nothing: a plugin that
 * starts later reads the present configuration. The plugin runs on Linux only, so elsewhere, as in the demo on macOS, there is none.
 * Rejects with EPERM if a process may not be signalled.
 */
export async function endPlugin(name: string): Promise<readonly number[]> {
  if (process.platform !== "linux") return [];
  const ended: number[] = [];
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry) || (await nameOf(entry)) !== name.slice(0, maxNameLength)) continue;
    if (terminate(Number(entry))) ended.push(Number(entry));
  }
  return ended;
}

/** Reads /proc/PID/comm. /proc/PID/exe is more exact, but cannot be read for a privileged process. */
async function nameOf(pid: string): Promise<string | undefined> {
  try {
    return (await readFile(join("/proc", pid, "comm"), "utf8")).trimEnd();
  } catch (error) {
    if (isErrno(error, "ENOENT", "ESRCH")) return undefined;
    throw error;
  }
}

/** Reports whether the process still existed. */
function terminate(pid: number): boolean {
  try {
    return kill(pid, "SIGTERM");
  } catch (error) {
    if (isErrno(error, "ESRCH")) return false;
    throw error;
  }
}
