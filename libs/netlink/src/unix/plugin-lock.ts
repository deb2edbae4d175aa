// SPDX-License-Identifier: Apache-2.0
/**
 * takePluginLock ensures that one process of a plugin of the kubelet runs on a node. A pod that was deleted by force can still run when
 * its successor starts: both would serve the same sockets, and the one that ends would remove those of the other.
 * Usage: `await using lock = await takePluginLock("/run/p/p.lock", { program: "the DRA driver", onWaiting, signal });`
 */
import { tryFileLock } from "../libc.ts";
import { isErrno, makeDirectory } from "@switchyard/service";
import { constants } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export interface PluginLockOptions {
  /** The program, for messages: "the DRA driver". */
  readonly program: string;
  /** Called with the reason of the wait, and again when it changes. */
  readonly onWaiting: (reason: string) => void;
  /** Ends the wait: takePluginLock rejects with the reason of the signal. */
  readonly signal: AbortSignal;
}

const retryMs = 250;

/**
 * Waits for the lock of the file, which the kernel releases when the process has ended in any way. Disposing of the result releases
 * it, too. A file that cannot be opened is the reason of a wait: an administrator can correct it.
 */
export async function takePluginLock(
  path: string,
  { program, onWaiting, signal }: PluginLockOptions,
): Promise<AsyncDisposable> {
  for (let reported = ""; ;) {
    signal.throwIfAborted();
    const taken = await tryToTake(path, program);
    if (typeof taken !== "string") return { [Symbol.asyncDispose]: () => taken.close() };
    if (taken !== reported) onWaiting(taken);
    reported = taken;
    await delay(retryMs, undefined, { signal }).catch(() => undefined); // aborted: the loop's first line throws
  }
}

async function tryToTake(path: string, program: string): Promise<FileHandle | string> {
  let file: FileHandle | undefined;
  try {
    await makeDirectory(dirname(path));
    file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    if (!tryFileLock(file.fd)) {
      await file.close();
      return `another process of ${program} runs on this node: it has the lock of ${path}`;
    }
    // The file may have been replaced after it was opened. Then the lock of the new file counts.
    if ((await stat(path)).ino === (await file.stat()).ino) return file;
    await file.close();
    return `${path} was replaced`;
  } catch (error) {
    await file?.close();
    if (!isErrno(error)) throw error;
    return `take the lock of ${path}: ${error.message}`;
  }
}
