// SPDX-License-Identifier: Apache-2.0
/**
 * The runtime's wish that a call stops, as an AbortSignal would carry it; loading and using that one takes half a
 * millisecond of each start (docs/decisions/010-eve-bridge-launcher.md).
 * Usage: `const { signal, stop } = createStopSignal(); process.once("SIGTERM", stop)`.
 */
import { CniError, cniCode } from "../request/cni-error.ts";

/** Once stopped, it stays so. */
export interface StopSignal {
  readonly stopped: boolean;
  /** Calls `listener` when it stops, at most once; the returned function takes that back. */
  onStop(listener: () => void): () => void;
}

/** A signal and the means to give it. */
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

/** Throws code 11 once the runtime has told us to stop. */
export function throwIfStopped(signal: StopSignal | undefined): void {
  if (signal?.stopped === true) throw stoppedError();
}

/** What a wait fails with when a signal ends it. */
export function stoppedError(): CniError {
  return new CniError(cniCode.tryAgain, "stopped by a signal");
}
