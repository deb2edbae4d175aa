// SPDX-License-Identifier: Apache-2.0
/**
 * withFileLock runs work under a lock between processes. The lock only saves duplicate work: the work must be correct
 * without it, too. The holder touches the lock file regularly; a file that was not touched for a while belongs to a dead
 * process. The file cannot use a pid, since containers with different pid namespaces can share the cache.
 * Usage: `await withFileLock("/cache/lock", { onWait }, () => build())`.
 */
import { rm, stat, utimes, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isErrno } from "@switchyard/service";

export interface FileLockOptions {
  /** Called once if another process has the lock. */
  readonly onWait?: () => void;
  /** Time after which an untouched lock is ignored; 15 s by default. The holder touches it ten times as often. */
  readonly staleMs?: number;
}

/** Waits for the lock, runs `work` and releases the lock. Rejects with the error of `work`. */
export async function withFileLock<T>(path: string, options: FileLockOptions, work: () => Promise<T>): Promise<T> {
  const { onWait, staleMs = 15_000 } = options;
  for (let waited = false; !(await take(path)); waited = true) {
    if (!waited) onWait?.();
    await dropIfStale(path, staleMs);
    await sleep(Math.min(200, staleMs));
  }
  const touching = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined); // another process took it as stale; the work is then done twice
  }, staleMs / 10);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    await rm(path, { force: true });
  }
}

async function take(path: string): Promise<boolean> {
  try {
    await writeFile(path, `${process.pid}\n`, { flag: "wx" });
    return true;
  } catch (error) {
    if (isErrno(error, "EEXIST")) return false;
    throw error;
  }
}

async function dropIfStale(path: string, staleMs: number): Promise<void> {
  try {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > staleMs) await rm(path, { force: true });
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error; // released in the meantime
  }
}
