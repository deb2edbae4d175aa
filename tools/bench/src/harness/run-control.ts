// SPDX-License-Identifier: Apache-2.0
/**
 * Run ends a benchmark when something that it needs has failed, or when the user stops it: all waits reject, and
 * everything that was started is stopped and removed.
 * Usage: `using run = startRun(); await pause(1_000, run.signal); run.fail(error)`
 */
import { BenchError } from "./bench-error.ts";

export interface Run extends Disposable {
  /** Aborted when the run fails; its reason is the error. */
  readonly signal: AbortSignal;
  /** Fails the run. Only the first error counts. */
  readonly fail: (error: unknown) => void;
}

/** Until it is disposed, Ctrl-C and SIGTERM fail the run; a second one ends the process at once. */
export function startRun(): Run {
  const controller = new AbortController();
  const fail = (error: unknown) => {
    controller.abort(error);
  };
  const stop = () => {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    fail(new BenchError("stopped", "stopped; removing everything that was started"));
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  return {
    signal: controller.signal,
    fail,
    [Symbol.dispose]() {
      process.off("SIGINT", stop).off("SIGTERM", stop);
    },
  };
}
