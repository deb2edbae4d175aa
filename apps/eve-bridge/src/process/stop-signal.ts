// SPDX-License-Identifier: Apache-2.0
/**
 * StopSignal reports that the runtime asks a call to stop. It replaces AbortSignal, which would add half a millisecond to
 * each start (docs/decisions/010-eve-bridge-launcher.md).
 */
import { CniError, cniCode } from "../request/cni-error.ts";

/** A signal that is given once. */
export interface StopSignal {
  readonly stopped: boolean;
  /** Calls `listener` at most once, when the signal is given; the returned function removes the listener. */
  onStop(listener: () => void): () => void;
}

/** Creates a signal and the function that gives it. */
export function createStopSignal(): { readonly signal: StopSignal; readonly stop: () => void } {
  const listeners = new Set<() => void>();
  let stopped = false;
  return {
    signal: {
      get stopped() {
        return stopped;
      },
      onStop(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    stop() {
      stopped = true;
      const waiting = [...listeners];
      listeners.clear();
      for (const listener of waiting) listener();
    },
  };
}

/** Throws code 11 if the signal was given. */
export function throwIfStopped(signal: StopSignal | undefined): void {
  if (signal?.stopped === true) throw stoppedError();
}

/** The error of a wait that the signal ends. */
export function stoppedError(): CniError {
  return new CniError(cniCode.tryAgain, "stopped by a signal");
}
