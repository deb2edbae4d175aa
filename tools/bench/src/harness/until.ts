// SPDX-License-Identifier: Apache-2.0
/**
 * Waiting in a run: given up at once when something that the run needs has ended, with that as the error.
 * Usage: `await until("all specs", () => arrived() === 1000, { withinMs: 60_000, signal: run.signal })`
 */
import { setTimeout as sleep } from "node:timers/promises";
import { BenchError } from "./bench-error.ts";

export interface UntilOptions {
  readonly withinMs: number;
  /** Aborted, with what went wrong for its reason, when the run cannot go on. */
  readonly signal: AbortSignal;
  readonly everyMs?: number;
}

/** Asks until the answer is true. Rejects with BenchError `late`, or with the signal's reason. */
export async function until(
  what: string,
  ask: () => boolean | Promise<boolean>,
  { withinMs, signal, everyMs = 20 }: UntilOptions,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await ask())) {
    if (performance.now() > deadline) throw new BenchError("late", `${what}: not within ${withinMs / 1000} s`);
    await pause(everyMs, signal);
  }
}

/** Rejects with the signal's reason as soon as it aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await sleep(ms, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}
