// SPDX-License-Identifier: Apache-2.0
/**
 * acquireNodeLock ensures that one daemon runs per node. It locks a file on the host that only root can open (flock(2)). The
 * kernel releases the lock when the process has ended in any way. A process ends only after its last system call has
 * returned. A daemon that was killed while a write to sysfs hangs keeps the lock, and its successor waits and does not
 * touch the device.
 *
 * The file names the holder of the lock. It is in /run, so it does not survive a reboot.
 *
 * Usage: `await using lock = await acquireNodeLock("/host", { holder: { pod }, now, signal, onWaiting });`
 */
import { tryFileLock } from "@switchyard/netlink";
import { constants, promises as fs, type Stats } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isErrno, makeDirectory } from "@switchyard/service";
import { HostError } from "../../calls/host-error.ts";

export interface NodeLockOptions {
  /** Written to the file for the processes that wait. */
  readonly holder: { readonly pod?: string | undefined };
  readonly now: () => Date;
  /** Ends the wait: acquireNodeLock rejects with the reason of the signal. */
  readonly signal: AbortSignal;
  /**
   * Called with the reason of the wait, and again when the reason changes: "/run/switchyard/config-daemon.lock is held by
   * process 4711 (pod …) since …", or a problem of the file.
   */
  readonly onWaiting: (reason: string) => void;
}

/** Path of the lock below the root of the host. */
const directoryName = "/run/switchyard";
const fileName = "config-daemon.lock";

/** Time between two attempts, each of which costs a few system calls. */
const retryMs = 250;

/** No holder writes more. */
const maxHolderBytes = 1_024;

/** Waits for the lock. Disposing of the result releases it. The lock does not keep the process alive. */
export async function acquireNodeLock(root: string, options: NodeLockOptions): Promise<AsyncDisposable> {
  const { signal, onWaiting } = options;
  for (let reported = ""; ;) {
    signal.throwIfAborted();
    const taken = await tryToTake(root, options).catch((error: unknown) => problemOf(error, root));
    if (typeof taken !== "string") return taken;
    if (taken !== reported) onWaiting(taken);
    reported = taken;
    await delay(retryMs, undefined, { signal }).catch(() => undefined); // aborted: the loop's first line throws
  }
}

/** Returns the lock, or the reason why it is not available now. Rejects with errors of Node and with HostError. */
async function tryToTake(root: string, { holder, now }: NodeLockOptions): Promise<AsyncDisposable | string> {
  const directory = join(root, directoryName);
  const path = join(directory, fileName);
  await makeDirectory(join(directory, "..")); // exists on each host
  await fs.mkdir(directory, { mode: 0o700 }).catch(unlessExists);
  checkSafe(await fs.lstat(directory), { kind: "directory", name: directoryName, closedTo: 0o022 });
  // Only root can write to the directory, so no other user can replace the file.
  const file = await fs.open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  try {
    const opened = await file.stat();
    // Any process that can open the file, even for reading only, can lock it.
    checkSafe(opened, { kind: "file", name: `${directoryName}/${fileName}`, closedTo: 0o077 });
    if (!tryFileLock(file.fd)) {
      const reason = describeHolder(await readStart(file));
      await file.close();
      return reason;
    }
    // The file may have been replaced after it was opened. Then the lock of the new file counts.
    const named = await fs.stat(path).catch(() => undefined);
    if (named?.ino !== opened.ino || named.dev !== opened.dev) throw refusal("ESTALE", "the lock file was replaced");
    const text = JSON.stringify({ pid: process.pid, pod: holder.pod, since: now().toISOString() });
    // The text is for administrators only. The lock is valid without it, for example if the disk is full.
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
  /** Mode bits that must not be set. */
  readonly closedTo: number;
}

/** Throws HostError unless the file belongs to the user of this process, which is root for a daemon, and is closed to others. */
function checkSafe(found: Stats, { kind, name, closedTo }: Safety): void {
  const isKind = kind === "directory" ? found.isDirectory() : found.isFile();
  if (!isKind) throw refusal("EPERM", `${name} is not a ${kind}`);
  const uid = process.geteuid?.() ?? 0;
  if (found.uid !== uid) throw refusal("EPERM", `${name} belongs to user ${found.uid} instead of user ${uid}`);
  const mode = found.mode & 0o777;
  if ((mode & closedTo) !== 0) {
    throw refusal("EPERM", `${name} has mode ${mode.toString(8)}, which gives access to other users`);
  }
}

function refusal(code: string, words: string): HostError {
  return new HostError({ action: "take the lock", target: "this node" }, code, { words });
}

/** The text of the file is shown only. Nothing depends on it, because it may be wrong. */
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
    return undefined; // the holder has not written it yet
  }
}

async function readStart(file: fs.FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(maxHolderBytes), 0, maxHolderBytes, 0);
  return buffer.toString("utf8", 0, bytesRead);
}

function unlessExists(error: unknown): void {
  if (!isErrno(error, "EEXIST")) throw error;
}

/** An administrator can fix a problem of the file. The problem is reported, and acquireNodeLock retries. */
function problemOf(error: unknown, root: string): string {
  if (error instanceof HostError) return error.message;
  if (isErrno(error)) {
    const place = error.path === undefined ? `below ${directoryName}` : join("/", relative(root, error.path));
    return refusal(error.code, `${error.syscall} ${place}`).message;
  }
  throw error;
}
