// SPDX-License-Identifier: Apache-2.0
/**
 * watchSockets waits until the kubelet has started or has removed the sockets of plugins, which it does at each start.
 * Usage: `using watch = watchSockets("/var/lib/kubelet/device-plugins"); const seen = watch.changes(); await watch.changed({ seen, timeoutMs: 30_000 }, signal);`
 */
import { watch, type FSWatcher } from "node:fs";
import { stat } from "node:fs/promises";
import { isErrno } from "@switchyard/service";

export interface SocketWatch extends Disposable {
  /** Returns the number of changes so far. To be read before the files are looked at. */
  changes(): number;
  /** Resolves when there are more changes (inotify) than `seen`, after `timeoutMs`, or when `signal` aborts. */
  changed(since: { readonly seen: number; readonly timeoutMs: number }, signal: AbortSignal): Promise<void>;
}

/** The directory may not exist yet: before the kubelet's first start. It is then looked at again after each timeout. */
export function watchSockets(directory: string): SocketWatch {
  const waiting = new Set<() => void>();
  let watcher: FSWatcher | undefined;
  let changes = 0;

  function wakeAll(): void {
    changes++;
    for (const wake of waiting) wake();
  }

  function close(): void {
    watcher?.close();
    watcher = undefined;
  }

  function open(): void {
    try {
      watcher ??= watch(directory, wakeAll).on("error", () => {
        close(); // the directory was removed
        wakeAll();
      });
    } catch (error) {
      if (!isErrno(error)) throw error;
    }
  }

  open();
  return {
    changes: () => changes,
    async changed({ seen, timeoutMs }, signal) {
      open();
      if (signal.aborted || seen !== changes) return;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          waiting.delete(wake);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        const timer = setTimeout(wake, timeoutMs);
        waiting.add(wake);
        signal.addEventListener("abort", wake);
      });
    },
    [Symbol.dispose]: close,
  };
}

/** Returns what differs between a file and another of the same name; undefined if there is none. */
export async function identityOf(path: string): Promise<string | undefined> {
  try {
    const { ino, ctimeNs } = await stat(path, { bigint: true });
    return `${ino}/${ctimeNs}`;
  } catch (error) {
    if (isErrno(error, "ENOENT") || isErrno(error, "ENOTDIR")) return undefined;
    throw error;
  }
}
