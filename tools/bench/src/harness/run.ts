// SPDX-License-Identifier: Apache-2.0
/**
 * Run ends a benchmark when something that it needs has failed, or when the user stops it: all waits reject, and
 * everything that was started is stopped and removed.
 */
import { mapConcurrently } from "@switchyard/service";
import { createProgress, eventually, type Progress } from "@switchyard/testing";
import { setTimeout as sleep } from "node:timers/promises";

/** The kinds of failures of a run. */
export type BenchErrorCode =
  /** The command line is invalid. */
  | "usage"
  /** The API server refused a request of the harness. */
  | "refused"
  /** A watch of the harness failed. */
  | "watch"
  /** The measured process ended unexpectedly. */
  | "ended"
  /** A step reached its time limit. */
  | "late"
  /** A measured program returned a wrong result. */
  | "wrong"
  /** The user stopped the run. */
  | "stopped"
  /** This machine lacks something that the run needs, such as /proc or a tool. */
  | "platform"
  /** A goal is missed, and --check was given. */
  | "goals";

/** A run without figures, or with a missed goal. */
export class BenchError extends Error {
  override readonly name = "BenchError";
  readonly code: BenchErrorCode;

  constructor(code: BenchErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Disposing it disposes of all parts, in the reverse order, and ends the progress lines. */
export interface Run extends AsyncDisposable {
  readonly progress: Progress;
  /** Aborted when the run fails; its reason is the error. */
  readonly signal: AbortSignal;
  /** Fails the run. Only the first error counts. */
  readonly fail: (error: unknown) => void;
  /** Keeps a part until the end of the run. */
  readonly use: <Part extends AsyncDisposable | Disposable>(part: Part) => Part;
}

/** Until it is disposed, Ctrl-C and SIGTERM fail the run; a second one ends the process at once. */
export function startRun(): Run {
  const controller = new AbortController();
  const parts = new AsyncDisposableStack();
  const fail = (error: unknown) => {
    controller.abort(error);
  };
  const stop = () => {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    fail(new BenchError("stopped", "stopped; removing everything that was started"));
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  parts.defer(() => {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  });
  return {
    progress: parts.use(createProgress()),
    signal: controller.signal,
    fail,
    use: (part) => parts.use(part),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** A part of the run. What it uses is disposed of at the end of the part. */
export function startPart(run: Run): Run {
  const parts = new AsyncDisposableStack();
  return { ...run, use: (part) => parts.use(part), [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** Waits `ms`; rejects with the signal's reason as soon as it is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await sleep(ms, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}

/** Requests `url` until the answer is 200. Rejects with TestingError `timeout`, or with the signal's reason. */
export async function untilReady(url: string, signal: AbortSignal): Promise<void> {
  await eventually(`200 on ${url}`, async () => (await fetch(url, { signal })).ok, {
    withinMs: 120_000,
    everyMs: 20,
    signal,
  });
}

/** Calls `work` with each index below `count`, for 32 at the same time. `what` is the step in the progress. */
export async function forEachIndex(
  { progress, signal }: Pick<Run, "progress" | "signal">,
  { what, count, limit = 32 }: { readonly what?: string; readonly count: number; readonly limit?: number },
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let done = 0;
  if (what !== undefined) progress.at(what, () => `${done} of ${count}`);
  await mapConcurrently([...Array(count).keys()], limit, async (index) => {
    signal.throwIfAborted();
    await work(index);
    done += 1;
  });
}
