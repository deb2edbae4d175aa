// SPDX-License-Identifier: Apache-2.0
/**
 * * OwnerLock is a lock between processes that ends with its owner, even if the owner is killed. Node has no flock(2),
 * so a lock is a directory with one file that is named after the owner. A process prepares such a directory and gives
 * it the lock's name with rename(2), which succeeds only if the target does not exist or is empty. A process that finds
 * a dead owner unlinks the owner's file, whose name no other process can have, and tries again. So two processes never
 * hold the same lock.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { deadlineIn, leftMs, nowMs, sleep, type Wait } from "../process/deadline.ts";
import { throwIfStopped } from "../process/stop-signal.ts";
import { cniCode, CniError, errnoOf } from "../request/cni-error.ts";

/** The name of a lock in a directory. It must not contain "/" or "::". */
export interface LockName {
  readonly dir: string;
  readonly name: string;
}

/** A held lock. */
export interface OwnerLock {
  /** Releases the lock. Never throws: a lock that cannot be removed ends with this process. */
  release(): void;
}

/** Separates the lock's name from the owner in the name of a directory that is being prepared. */
const separator = "::";

let lastToken = 0;

/** Takes the lock; waits while a living process holds it. Throws code 11 on a timeout, or the file system's error. */
export async function acquireLock(lock: LockName, { timeoutMs, signal }: Wait): Promise<OwnerLock> {
  const deadline = deadlineIn(timeoutMs);
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    throwIfStopped(signal);
    const held = tryLock(lock);
    if (held !== undefined) return held;
    if (nowMs() >= deadline.endMs) {
      const details = `lock ${lock.name} was held for ${timeoutMs} ms`;
      throw new CniError(cniCode.tryAgain, "another call for the same interface is still running", { details });
    }
    await sleep(leftMs(deadline, pauseMs));
  }
}

/** Takes the lock; undefined if a living process holds it. Throws the file system's error. */
export function tryLock({ dir, name }: LockName): OwnerLock | undefined {
  ensureDirectory(dir, 0o700);
  const path = join(dir, name);
  if (!removeDeadOwners(path)) return undefined;
  const token = newToken();
  const mine = `${path}${separator}${token}`;
  mkdirSync(mine, { mode: 0o700 });
  try {
    writeFileSync(join(mine, token), "");
    if (renameOver(mine, path)) {
      removeUnfinished(dir, name);
      return {
        release: () => {
          remove(path, token);
        },
      };
    }
  } catch (error) {
    remove(mine, token);
    throw error;
  }
  remove(mine, token);
  return undefined;
}

/** Removes the locks of dead processes in `dir`. */
export function removeStaleLocks(dir: string): void {
  for (const entry of listOrNothing(dir)) {
    const [name = "", token] = entry.split(separator);
    if (token === undefined) {
      if (removeDeadOwners(join(dir, name)))
        ignoringErrno(() => {
          rmdirSync(join(dir, name));
        });
    } else if (!isAlive(token)) rmSync(join(dir, entry), { recursive: true, force: true });
  }
}

function remove(path: string, token: string): void {
  ignoringErrno(() => {
    unlinkSync(join(path, token));
  });
  // Fails if the next owner has already put its file there.
  ignoringErrno(() => {
    rmdirSync(path);
  });
}

/** Renames `mine` to `path`. Returns false if `path` has an owner. */
function renameOver(mine: string, path: string): boolean {
  try {
    renameSync(mine, path);
    return true;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOTEMPTY" || errno === "EEXIST") return false;
    throw error;
  }
}

/** Removes the files of dead owners. Returns whether no living owner is left. */
function removeDeadOwners(path: string): boolean {
  let free = true;
  for (const token of listOrNothing(path)) {
    if (isAlive(token)) free = false;
    else
      ignoringErrno(() => {
        unlinkSync(join(path, token));
      });
  }
  return free;
}

/** Removes the prepared directories of processes that were killed before the rename. */
function removeUnfinished(dir: string, name: string): void {
  for (const entry of listOrNothing(dir)) {
    const [of, token] = entry.split(separator);
    if (of === name && token !== undefined && !isAlive(token))
      rmSync(join(dir, entry), { recursive: true, force: true });
  }
}

/** The process id and start time of the owner, because the kernel reuses process ids. */
function newToken(): string {
  lastToken++;
  return `${process.pid}-${startTimeOf("self") ?? 0}-${lastToken}`;
}

function isAlive(token: string): boolean {
  const [pid = "", startTime] = token.split("-");
  return /^\d+$/.test(pid) && startTimeOf(pid) === startTime;
}

/** Field 22 of /proc/PID/stat, in clock ticks; undefined for a process that has ended or is a zombie. */
function startTimeOf(pid: string): string | undefined {
  try {
    // The process name in field 2 can contain any character, including ")".
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" || state === "X" ? undefined : rest[18];
  } catch {
    return undefined;
  }
}

function listOrNothing(dir: string): string[] {
  if (!existsSync(dir)) return []; // the usual case; an exception takes ten times as long
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function ignoringErrno(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}

/**
 * ensureDirectory creates a directory and its parent. It does not use mkdir's `recursive`, which would create all of a
 * mistyped path and, in Node 24, never returns for a path below /proc.
 * Throws the file system's error.
 */
export function ensureDirectory(path: string, mode: number): void {
  if (existsSync(path)) return;
  for (const dir of [dirname(path), path]) {
    try {
      mkdirSync(dir, { mode });
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
  }
}
