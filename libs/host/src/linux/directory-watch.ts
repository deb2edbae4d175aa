// SPDX-License-Identifier: Apache-2.0
/**
 * Waits for something to happen in a directory (inotify).
 * Usage: `using changes = watchDirectory("/run/udev"); await changes.next(250, signal)`.
 */
import { watch, type FSWatcher } from "node:fs";
import { isErrno } from "../calls/host-error.ts";

/** A watch over a directory; dispose of it to end it. */
export interface DirectoryWatch extends Disposable {
  /** Resolves when something changed since the last call (or the start), after `timeoutMs`, or when `signal` aborts. */
  next(timeoutMs: number, signal: AbortSignal): Promise<void>;
}

/** Where the directory cannot be watched, only time passes. */
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
    watcher.on("error", onChange); // the directory went
    return watcher;
  } catch (error) {
    if (isErrno(error)) return undefined; // not there, or no inotify left
    throw error;
  }
}
