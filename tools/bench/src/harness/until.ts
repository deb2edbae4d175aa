// SPDX-License-Identifier: Apache-2.0
/**
 * until waits for a condition, and rejects at once when the run fails.
 * Usage: `await until("all specs", () => arrived() === 1000, { withinMs: 60_000, signal: run.signal })`
 */
import { setTimeout as sleep } from "node:timers/promises";
import { BenchError } from "./bench-error.ts";

export interface UntilOptions {
  readonly withinMs: number;
  /** Aborted when the run fails; its reason is the error. */
  readonly signal: AbortSignal;
  readonly everyMs?: number;
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
