// SPDX-License-Identifier: Apache-2.0
/**
 * Waits for a condition by asking again: for tests against real processes, which cannot be told to be done.
 * Usage: `await eventually("the node state", () => read(name), { withinMs: 10_000 })`
 */
import { setTimeout as sleep } from "node:timers/promises";
import { TestingError } from "./testing-error.ts";

export interface EventuallyOptions {
  /** 30 s: generous, as it costs nothing when all is well. */
  readonly withinMs?: number;
  /** 50 ms */
  readonly everyMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * The first value of `ask` that is neither undefined nor false. An `ask` that throws has no answer yet; what it threw
 * last is the cause of the TestingError `timeout` that ends the waiting.
 */
export async function eventually<T>(
  what: string,
  ask: () => T | Promise<T>,
  { withinMs = 30_000, everyMs = 50, signal }: EventuallyOptions = {},
): Promise<Exclude<Awaited<T>, undefined | false>> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await attempt(ask);
    if ("value" in answer && isAnswer(answer.value)) return answer.value;
    signal?.throwIfAborted();
    if (performance.now() > deadline) {
      throw new TestingError("timeout", `${what}: not within ${withinMs} ms`, answer);
    }
    await sleep(everyMs, undefined, { signal });
  }
}

async function attempt<T>(ask: () => T | Promise<T>): Promise<{ value: Awaited<T> } | { cause: unknown }> {
  try {
    return { value: await ask() };
  } catch (cause) {
    return { cause };
  }
}

function isAnswer<T>(value: T): value is Exclude<T, undefined | false> {
  return value !== undefined && value !== false;
}
