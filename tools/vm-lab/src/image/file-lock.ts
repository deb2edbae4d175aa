// SPDX-License-Identifier: Apache-2.0
/**
 * withFileLock holds a lock between processes by flock(1) in a child process. The child ends with this process, because its
 * input closes, and the kernel then releases the lock. A killed build therefore leaves no lock.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { VmLabError } from "../vm-lab-error.ts";

/** Interval of the calls of `onWait` while another process has the lock. */
const waitIntervalMs = 1000;

/** Runs `act` while holding the lock on `file`, which is created if necessary and not removed. */
export async function withFileLock<T>(file: string, onWait: () => void, act: () => Promise<T>): Promise<T> {
  await mkdir(dirname(file), { recursive: true });
  const holder = spawn("flock", ["--exclusive", file, "sh", "-c", "echo held && exec cat >/dev/null"], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = once(holder, "close");
  ended.catch(() => undefined); // handled in the race
  const words: string[] = [];
  holder.stderr.setEncoding("utf8").on("data", (text: string) => words.push(text));
  const waiting = setInterval(onWait, waitIntervalMs);
  try {
    await Promise.race([once(holder.stdout, "data"), ended.then(() => Promise.reject(failure()))]);
    clearInterval(waiting);
    return await act();
  } finally {
    clearInterval(waiting);
    holder.stdin.end();
    await ended.catch(() => undefined); // already reported if flock failed
  }

  function failure(): VmLabError {
    return new VmLabError("build-failed", `cannot lock ${file}`, { output: words.join("") });
  }
}
