// SPDX-License-Identifier: Apache-2.0
/**
 * Locks between processes that end with their owner, even when it is killed. Node has no flock(2), so a lock is a
 * directory that holds one file, named after its owner, and takes its name by rename(2): that succeeds only while the
 * directory of that name is missing or empty. Who finds a dead owner unlinks that owner's file, which can never be the
 * file of another, and tries again; so a lock is taken over without a moment in which two hold it.
 * Usage: `const lock = await acquireLock({ dir, name: "abc:net1" }, { timeoutMs: 30_000 }); try { … } finally { lock.release(); }`.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { CniError, cniCode, errnoOf } from "../request/cni-error.ts";
import { deadlineIn, leftMs, nowMs, sleep, type Wait } from "../process/deadline.ts";
import { ensureDirectory } from "./directory.ts";
import { throwIfStopped } from "../process/stop-signal.ts";

/** A lock is known by its name in a directory; names have neither "/" nor "::". */
export interface LockName {
  readonly dir: string;
  readonly name: string;
}

/** A held lock. */
export interface OwnerLock {
  /** Lets the next one in. Never throws: a lock that cannot be removed ends with this process. */
  release(): void;
}

/** Between `name` and the owner in the directory's name while it is being made. */
const separator = "::";

let lastToken = 0;

/** Takes the lock, waiting while its owner lives. Throws code 11 when it takes too long, errors of the file system as they are. */
export async function acquireLock(lock: LockName, { timeoutMs, signal }: Wait): Promise<OwnerLock> {
  const deadline = deadlineIn(timeoutMs);
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    throwIfStopped(signal);
    const held = tryLock(lock);
    if (held !== undefined) return held;
    if (nowMs() >= deadline.endMs) {
      const details = `${lock.name} was busy for ${timeoutMs} ms`;
      throw new CniError(cniCode.tryAgain, "another call for the same interface is still running", { details });
    }
    await sleep(leftMs(deadline, pauseMs));
  }
}

/** Takes the lock if nobody alive holds it; undefined otherwise. */
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

/** Removes what killed processes left of locks in `dir`. */
export function sweepLocks(dir: string): void {
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
  // Not empty when the next owner was quicker.
  ignoringErrno(() => {
    rmdirSync(path);
  });
}

/** Whether `path` is now `mine`; false when it has an owner. */
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

/** Whether nobody alive is left in `path`. */
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

/** What processes left that were killed while they made this lock. */
function removeUnfinished(dir: string, name: string): void {
  for (const entry of listOrNothing(dir)) {
    const [of, token] = entry.split(separator);
    if (of === name && token !== undefined && !isAlive(token))
      rmSync(join(dir, entry), { recursive: true, force: true });
  }
}

/** Process ids are used again; together with the time of their start they are not. */
function newToken(): string {
  lastToken++;
  return `${process.pid}-${startTimeOf("self") ?? 0}-${lastToken}`;
}

function isAlive(token: string): boolean {
  const [pid = "", startTime] = token.split("-");
  return /^\d+$/.test(pid) && startTimeOf(pid) === startTime;
}

/** Field 22 of /proc/PID/stat, in clock ticks; undefined for a process that is gone or waits to be reaped. */
function startTimeOf(pid: string): string | undefined {
  try {
    // The name in field 2 can hold anything, ")" too.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" || state === "X" ? undefined : rest[18];
  } catch {
    return undefined;
  }
}

function listOrNothing(dir: string): string[] {
  if (!existsSync(dir)) return []; // the usual case, and an exception costs ten times as much
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
