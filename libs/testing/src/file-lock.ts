// SPDX-License-Identifier: Apache-2.0
/**
 * A lock between processes, to spare work, not to be safe: what it guards must be right without it too (here: files
 * appear by rename). The holder touches the file; a file that nobody has touched for a while belongs to the dead.
 * (A pid in it would not do: the cache may be shared between containers, which count theirs apart.)
 * Usage: `await withFileLock("/cache/lock", { onWait }, () => build())`
 */
import { rm, stat, utimes, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isErrno } from "@switchyard/service";

export interface FileLockOptions {
  /** Called once, when another process has it. */
  readonly onWait?: () => void;
  /** How long an untouched lock counts: 15 s, of which the holder needs a small part. */
  readonly staleMs?: number;
}

/** Does `work` alone. */
export async function withFileLock<T>(path: string, options: FileLockOptions, work: () => Promise<T>): Promise<T> {
  const { onWait, staleMs = 15_000 } = options;
  for (let waited = false; !(await take(path)); waited = true) {
    if (!waited) onWait?.();
    await dropIfStale(path, staleMs);
    await sleep(Math.min(200, staleMs));
  }
  const touching = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined); // taken from us as stale: the work is then done twice, no worse
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
    if (!isErrno(error, "ENOENT")) throw error; // given back meanwhile
  }
}
