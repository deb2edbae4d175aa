// SPDX-License-Identifier: Apache-2.0
/**
 * eventually polls until a condition is true, for tests with real processes.
 * Usage: `await eventually("the node state exists", () => states.get("worker-1"), { withinMs: 10_000 })`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { TestingError } from "./testing-error.ts";

export interface EventuallyOptions {
  /** Time limit; 30 s by default. */
  readonly withinMs?: number;
  /** Time between two attempts; 50 ms by default. */
  readonly everyMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Resolves with the first value of `read` that is neither undefined nor false. An error of `read` counts as no value yet.
 * Rejects with TestingError `timeout`, with the last error of `read` as its cause, or with the reason of the signal.
 */
export async function eventually<T>(
  what: string,
  read: () => T | Promise<T>,
  { withinMs = 30_000, everyMs = 50, signal }: EventuallyOptions = {},
): Promise<Exclude<Awaited<T>, undefined | false>> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const result = await attempt(read);
    if ("value" in result && isValue(result.value)) return result.value;
    signal?.throwIfAborted();
    if (performance.now() > deadline) {
      throw new TestingError("timeout", `${what}: not within ${withinMs} ms`, result);
    }
    await sleep(everyMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}

async function attempt<T>(read: () => T | Promise<T>): Promise<{ value: Awaited<T> } | { cause: unknown }> {
  try {
    return { value: await read() };
  } catch (cause) {
    return { cause };
  }
}

function isValue<T>(value: T): value is Exclude<T, undefined | false> {
  return value !== undefined && value !== false;
}
