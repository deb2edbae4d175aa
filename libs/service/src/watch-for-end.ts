// SPDX-License-Identifier: Apache-2.0
/**
 * What ends a process from outside its work: signals, errors that nobody caught, and the limit on the time to stop.
 */
import type { Logger } from "./logger.ts";

/** Watches this process until disposed. */
export interface EndWatch extends Disposable {
  /** Aborts at the first SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
  /** Resolves when the process must not wait for its work any longer. Why is in the log. */
  readonly forced: Promise<void>;
}

// A process that was told to stop is gone within 10 s; the rest is for closing the servers.
const stopLimitMs = 9500;

export function watchForEnd(log: Logger): EndWatch {
  const stop = new AbortController();
  const forced = Promise.withResolvers<undefined>();
  const watching = new DisposableStack();

  function force(why: string, error?: unknown): void {
    log.error(error === undefined ? {} : { error }, why);
    forced.resolve(undefined);
  }

  function onSignal(name: NodeJS.Signals): void {
    if (stop.signal.aborted) {
      force("ended by a second signal, with work in hand");
      return;
    }
    log.info({ signal: name }, "stopping");
    const limit = setTimeout(force, stopLimitMs, `did not stop within ${stopLimitMs} ms, ended with work in hand`);
    watching.defer(() => {
      clearTimeout(limit);
    });
    stop.abort();
  }

  function onUncaught(error: unknown): void {
    force("uncaught error", error);
  }

  for (const name of ["SIGTERM", "SIGINT"] as const) {
    process.on(name, onSignal);
    watching.defer(() => process.off(name, onSignal));
  }
  process.on("uncaughtException", onUncaught); // rejections that nobody handles come here too
  watching.defer(() => process.off("uncaughtException", onUncaught));
  // Signal handlers keep no process alive, and a service may at times have no socket open.
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
