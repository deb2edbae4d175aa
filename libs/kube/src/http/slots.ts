// SPDX-License-Identifier: Apache-2.0
/**
 * A number of places, which are had in the order of asking.
 * Usage: `await slots.take(signal); try { … } finally { slots.give(); }`.
 */

export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves once there is a place, which is to be given back. Rejects with the signal's reason when it aborts before. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const serve = (): void => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.delete(serve);
        reject(signal.reason as Error);
      };
      this.#waiting.add(serve);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /** Passes the place to whoever waits longest. */
  give(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
