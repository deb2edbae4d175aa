// SPDX-License-Identifier: Apache-2.0
/**
 * Whether a run can go on: it cannot once something that it needs has ended, or a person has stopped it. Then whatever
 * waits is given up, and all that was started is ended and removed on the way out.
 * Usage: `using run = startRun(); await pause(1_000, run.signal); run.fail(error)`
 */
import { BenchError } from "./bench-error.ts";

export interface Run extends Disposable {
  /** Aborted with what went wrong for its reason. */
  readonly signal: AbortSignal;
  /** The first error counts. */
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
    fail(new BenchError("stopped", "stopped; ending and removing all that was started"));
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
