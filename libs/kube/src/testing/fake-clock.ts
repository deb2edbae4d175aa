// SPDX-License-Identifier: Apache-2.0
/** FakeClock is a Clock that a test advances. */
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../clock.ts";

export class FakeClock implements Clock {
  #nowMs = 0;
  readonly #timers = new Map<object, { readonly atMs: number; readonly run: () => void }>();

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = {};
    this.#timers.set(timer, { atMs: this.#nowMs + delayMs, run });
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** Number of pending timers. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Time until the next timer runs; Infinity if there is none. */
  get nextMs(): number {
    return Math.min(...Array.from(this.#timers.values(), ({ atMs }) => atMs)) - this.#nowMs;
  }

  /** Advances the time, runs due timers in order, and waits for the callbacks that they cause. */
  async advance(byMs: number): Promise<void> {
    const endMs = this.#nowMs + byMs;
    await settleCallbacks();
    for (;;) {
      const [next] = [...this.#timers].sort(([, a], [, b]) => a.atMs - b.atMs);
      if (next === undefined || next[1].atMs > endMs) break;
      this.#timers.delete(next[0]);
      this.#nowMs = Math.max(this.#nowMs, next[1].atMs);
      next[1].run();
      await settleCallbacks();
    }
    this.#nowMs = endMs;
  }
}

/**
 * eventually waits until a condition is true.
 * Resolves when `holds` returns true; rejects after 20 s.
 */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`not true within 20 s: ${holds.toString()}`);
    await delay(2);
  }
}

/** Waits until callbacks of settled promises and of the current event loop turn have run. */
export async function settleCallbacks(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}
