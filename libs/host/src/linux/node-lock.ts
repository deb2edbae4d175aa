// SPDX-License-Identifier: Apache-2.0
/**
 * One daemon a node: the lock of a file on the host that only root can open (flock(2)). The kernel releases it when its
 * holder is gone in whatever way. That is not before its last system call has returned: a daemon that was killed
 * while a write to sysfs hangs keeps the lock, and its successor does not touch the device under it.
 *
 * The file says who has the lock, for those who wait. On a host it is in /run, so a reboot leaves nothing behind.
 *
 * Usage: `await using lock = await acquireNodeLock("/host", { holder: { pod }, now, signal, onWaiting });`
 */
import { tryFileLock } from "@switchyard/netlink";
import { constants, promises as fs, type Stats } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HostError, isErrno } from "../calls/host-error.ts";

export interface NodeLockOptions {
  /** Who we are, for those who wait for us. */
  readonly holder: { readonly pod?: string | undefined };
  readonly now: () => Date;
  /** Gives up waiting: rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /**
   * Told why we wait, as a sentence: "/run/switchyard/config-daemon.lock is held by process 4711 (pod …) since …", or what
   * is wrong with the file. Again when that changes.
   */
  readonly onWaiting: (why: string) => void;
}

/** Where the lock is below the host's root. */
const directoryName = "/run/switchyard";
const fileName = "config-daemon.lock";

/** Between two tries; each costs a few system calls. */
const retryMs = 250;

/** More than any holder writes. */
const maxHolderBytes = 1_024;

/** Resolves with the lock once it is ours; disposing of it releases it. Holding it does not keep the process alive. */
export async function acquireNodeLock(root: string, options: NodeLockOptions): Promise<AsyncDisposable> {
  const { signal, onWaiting } = options;
  for (let told = ""; ;) {
    signal.throwIfAborted();
    const taken = await tryToTake(root, options).catch(problemOf);
    if (typeof taken !== "string") return taken;
    if (taken !== told) onWaiting(taken);
    told = taken;
    await delay(retryMs, undefined, { signal }).catch(() => undefined); // aborted: the loop's first line throws
  }
}

/** The lock, or why it cannot be had now. Rejects with what Node throws, and with HostError. */
async function tryToTake(root: string, { holder, now }: NodeLockOptions): Promise<AsyncDisposable | string> {
  const directory = join(root, directoryName);
  const path = join(directory, fileName);
  await fs.mkdir(join(directory, ".."), { recursive: true }); // a host has it
  await fs.mkdir(directory, { mode: 0o700 }).catch(unlessThere);
  checkSafe(await fs.lstat(directory), { kind: "directory", name: directoryName, closedTo: 0o022 });
  // In a directory that only we can write to, nobody puts another file in the place of this one.
  const file = await fs.open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  try {
    const opened = await file.stat();
    // Whoever can open a file, if only to read it, can lock it.
    checkSafe(opened, { kind: "file", name: `${directoryName}/${fileName}`, closedTo: 0o077 });
    if (!tryFileLock(file.fd)) {
      const why = describeHolder(await readStart(file));
      await file.close();
      return why;
    }
    // Root may have removed the file since it was opened. Then the lock of what has its name now is the one that counts.
    const named = await fs.stat(path).catch(() => undefined);
    if (named?.ino !== opened.ino || named.dev !== opened.dev) throw refusal("ESTALE", "it was replaced");
    const text = JSON.stringify({ pid: process.pid, pod: holder.pod, since: now().toISOString() });
    // For people only: a full disk is no reason to do without the lock.
    await file.truncate(0).catch(() => undefined);
    await file.write(`${text}\n`, 0).catch(() => undefined);
  } catch (error) {
    await file.close();
    throw error;
  }
  return { [Symbol.asyncDispose]: () => file.close() };
}

interface Safety {
  readonly kind: "directory" | "file";
  readonly name: string;
  /** Mode bits that it must not have. */
  readonly closedTo: number;
}

/** Throws HostError unless it is our own, which is root's for a daemon, and closed to others. */
function checkSafe(found: Stats, { kind, name, closedTo }: Safety): void {
  const isKind = kind === "directory" ? found.isDirectory() : found.isFile();
  if (!isKind) throw refusal("EPERM", `${name} is not a ${kind}`);
  const uid = process.geteuid?.() ?? 0;
  if (found.uid !== uid) throw refusal("EPERM", `${name} belongs to user ${found.uid}, not to user ${uid}`);
  const mode = found.mode & 0o777;
  if ((mode & closedTo) !== 0) {
    throw refusal("EPERM", `${name} has the mode ${mode.toString(8)}, which opens it to other users`);
  }
}

function refusal(code: string, words: string): HostError {
  return new HostError({ tried: "take the lock", target: "this node" }, code, { words });
}

/** What the file holds is a claim: it is shown, and nothing depends on it. */
function describeHolder(text: string): string {
  const file = `${directoryName}/${fileName}`;
  const { pid, pod, since } = parseHolder(text);
  const who = pid === undefined ? "another process" : `process ${pid}`;
  return `${file} is held by ${who}${pod === undefined ? "" : ` (pod ${pod})`}${since === undefined ? "" : ` since ${since}`}`;
}

interface Holder {
  readonly pid: number | undefined;
  readonly pod: string | undefined;
  readonly since: string | undefined;
}

function parseHolder(text: string): Holder {
  const parsed = parseJson(text);
  const has = (key: string): unknown =>
    typeof parsed === "object" && parsed !== null ? Reflect.get(parsed, key) : undefined;
  const [pid, pod, since] = [has("pid"), has("pod"), has("since")];
  return {
    pid: typeof pid === "number" ? pid : undefined,
    pod: typeof pod === "string" && /^[a-z0-9.-]+$/.test(pod) ? pod : undefined,
    since: typeof since === "string" && /^[\dTZ:.-]+$/.test(since) ? since : undefined,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // its holder is about to write it
  }
}

async function readStart(file: fs.FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(maxHolderBytes), 0, maxHolderBytes, 0);
  return buffer.toString("utf8", 0, bytesRead);
}

function unlessThere(error: unknown): void {
  if (!(isErrno(error) && error.code === "EEXIST")) throw error;
}

/** What the host refuses may be set right by hand: it is told, and tried again. */
function problemOf(error: unknown): string {
  if (error instanceof HostError) return error.message;
  if (isErrno(error)) return refusal(error.code, `${error.syscall} below ${directoryName}`).message;
  throw error;
}
