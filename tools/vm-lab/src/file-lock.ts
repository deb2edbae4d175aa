// SPDX-License-Identifier: Apache-2.0
/**
 * A lock between processes, held by flock(1) in a child: the kernel lets go of it when the child ends, and the child ends
 * with us, as its input closes. So nothing is left behind by a killed build.
 * Usage: `await withFileLock(join(cache, "lock"), () => progress("another build runs: waiting"), build)`
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { VmLabError } from "./vm-lab-error.ts";

/** How often `onWait` is called while another has the lock. */
const patienceMs = 1000;

/** Runs `act` while no other process holds the lock on `file`, which is made as needed and stays. */
export async function withFileLock<T>(file: string, onWait: () => void, act: () => Promise<T>): Promise<T> {
  await mkdir(dirname(file), { recursive: true });
  const holder = spawn("flock", ["--exclusive", file, "sh", "-c", "echo held && exec cat >/dev/null"], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = once(holder, "close");
  ended.catch(() => undefined); // handled in the race
  const words: string[] = [];
  holder.stderr.setEncoding("utf8").on("data", (text: string) => words.push(text));
  const patience = setInterval(onWait, patienceMs);
  try {
    await Promise.race([once(holder.stdout, "data"), ended.then(() => Promise.reject(failure()))]);
    clearInterval(patience);
    return await act();
  } finally {
    clearInterval(patience);
    holder.stdin.end();
    await ended.catch(() => undefined); // said above, if it never ran
  }

  function failure(): VmLabError {
    return new VmLabError("build-failed", `cannot lock ${file}`, { output: words.join("") });
  }
}
