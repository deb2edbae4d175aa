// SPDX-License-Identifier: Apache-2.0
/** Slots is a semaphore that serves its callers in order. */

export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with a slot, which the caller must give back. Rejects with the signal's reason if it aborts before. */
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

  /** Gives a slot back. The caller that has waited longest gets it. */
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
