// SPDX-License-Identifier: Apache-2.0
/**
 * Run ends a benchmark when something that it needs has failed, or when the user stops it: all waits reject, and
 * everything that was started is stopped and removed.
 */
import { setTimeout as sleep } from "node:timers/promises";

/**
 * The codes of BenchError: the kinds of failures of a run.
 * usage: the command line is invalid.
 * refused: the API server refused a request of the harness.
 * watch: a watch of the harness failed.
 * ended: the measured process ended unexpectedly.
 * late: a wait reached its time limit.
 * wrong: a measured program returned a wrong result.
 * stopped: the user stopped the run.
 * platform: this machine lacks something that the run needs, such as /proc or a tool.
 * goals: a goal is missed, and --check was given.
 */
export type BenchErrorCode =
  "usage" | "refused" | "watch" | "ended" | "late" | "wrong" | "stopped" | "platform" | "goals";

/** A run without figures, or with a missed goal. */
export class BenchError extends Error {
  override readonly name = "BenchError";
  readonly code: BenchErrorCode;

  constructor(code: BenchErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export interface Run extends Disposable {
  /** Aborted when the run fails; its reason is the error. */
  readonly signal: AbortSignal;
  /** Fails the run. Only the first error counts. */
  readonly fail: (error: unknown) => void;
}

/** until waits for a condition, and rejects at once when the run fails. */
interface UntilOptions {
  readonly withinMs: number;
  /** Aborted when the run fails; its reason is the error. */
  readonly signal: AbortSignal;
  readonly everyMs?: number;
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

/** Calls `ask` until it returns true. Rejects with BenchError `late`, or with the signal's reason. */
export async function until(
  what: string,
  ask: () => boolean | Promise<boolean>,
  { withinMs, signal, everyMs = 20 }: UntilOptions,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await ask())) {
    if (performance.now() > deadline) throw new BenchError("late", `timed out after ${withinMs / 1000} s: ${what}`);
    await pause(everyMs, signal);
  }
}

/** Waits `ms`; rejects with the signal's reason as soon as it is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await sleep(ms, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}

/**
 * untilReady waits until a service is ready.
 * Requests `url` until the answer is 200. Rejects with BenchError `late`, or with the signal's reason.
 */
export async function untilReady(url: string, signal: AbortSignal): Promise<void> {
  // A request fails while the service does not listen yet.
  const isReady = () =>
    fetch(url, { signal }).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(`200 on ${url}`, isReady, { withinMs: 120_000, signal });
}
