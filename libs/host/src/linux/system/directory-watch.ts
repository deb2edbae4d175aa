// SPDX-License-Identifier: Apache-2.0
/** watchDirectory waits for changes of a directory (inotify). */
import { watch, type FSWatcher } from "node:fs";
import { isErrno } from "@switchyard/service";

/** A watch of a directory. Disposing of it ends the watch. */
export interface DirectoryWatch extends Disposable {
  /** Resolves when the directory has changed since the last call or the start, after `timeoutMs`, or when `signal` aborts. */
  next(timeoutMs: number, signal: AbortSignal): Promise<void>;
}

/** If the directory cannot be watched, next() resolves by timeout only. */
export function watchDirectory(path: string): DirectoryWatch {
  let changed = false;
  let wake: () => void = () => undefined;
  const watcher = open(path, () => {
    changed = true;
    wake();
  });

  return {
    async next(timeoutMs, signal) {
      if (!changed && !signal.aborted) {
        const timer = setTimeout(wakeUp, timeoutMs);
        signal.addEventListener("abort", wakeUp);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        clearTimeout(timer);
        signal.removeEventListener("abort", wakeUp);
      }
      changed = false;
    },
    [Symbol.dispose]() {
      watcher?.close();
    },
  };

  function wakeUp() {
    wake();
  }
}

function open(path: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, onChange);
    watcher.on("error", onChange); // the directory was removed
    return watcher;
  } catch (error) {
    if (isErrno(error)) return undefined; // the directory does not exist, or the limit of inotify watches is reached
    throw error;
  }
}
