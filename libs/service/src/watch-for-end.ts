// SPDX-License-Identifier: Apache-2.0
/**
 * watchForEnd watches for the events that end a process: SIGTERM, SIGINT, uncaught exceptions, and the time limit for a
 * graceful stop.
 */
import type { LogFields, Logger } from "./logger.ts";

/** Watches this process until it is disposed. */
export interface EndWatch extends Disposable {
  /** Aborts at the first SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
  /** Resolves when the process must exit without waiting for its work. The reason is in the log. */
  readonly forced: Promise<void>;
}

// A process exits within 10 s of a signal. The remaining 0.5 s are for closing the servers.
const stopLimitMs = 9500;

export function watchForEnd(log: Logger): EndWatch {
  const stop = new AbortController();
  const forced = Promise.withResolvers<undefined>();
  const watching = new DisposableStack();

  function force(fields: LogFields, message: string): void {
    log.error(fields, message);
    forced.resolve(undefined);
  }

  function onSignal(name: NodeJS.Signals): void {
    if (stop.signal.aborted) {
      force({ signal: name }, "second signal received; exiting before the work is finished");
      return;
    }
    log.info({ signal: name }, "stopping");
    const fields = { limitMs: stopLimitMs };
    const limit = setTimeout(force, stopLimitMs, fields, "stop timed out; exiting before the work is finished");
    watching.defer(() => {
      clearTimeout(limit);
    });
    stop.abort();
  }

  function onUncaught(error: unknown): void {
    force({ error }, "uncaught exception; exiting");
  }

  for (const name of ["SIGTERM", "SIGINT"] as const) {
    process.on(name, onSignal);
    watching.defer(() => process.off(name, onSignal));
  }
  process.on("uncaughtException", onUncaught); // also called for unhandled rejections
  watching.defer(() => process.off("uncaughtException", onUncaught));
  // Signal handlers do not keep a process alive, and a service can have no open socket at times.
  const alive = setInterval(() => undefined, 3_600_000);
  watching.defer(() => {
    clearInterval(alive);
  });

  return {
    signal: stop.signal,
    forced: forced.promise,
    [Symbol.dispose]: () => {
      watching.dispose();
    },
  };
}
