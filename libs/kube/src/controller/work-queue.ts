// SPDX-License-Identifier: Apache-2.0
/**
 * WorkQueue holds keys to reconcile. A key is in the queue once however often it is added. It is not taken again before
 * its done(): a key that is added while it is processed becomes ready afterwards. The model is client-go's workqueue.
 */
import { backoffMs, type BackoffRange, type Clock } from "../clock.ts";

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  /** An added key becomes ready when it was not added again for this time ... */
  readonly debounceMs: number;
  /** ... or this time after the first addition. */
  readonly maxDebounceMs: number;
  readonly backoff: BackoffRange;
  /** Called when a key is taken, with the time for which it was ready. */
  readonly onTaken?: ((latencyMs: number) => void) | undefined;
}

/** Disposing it drops all keys and resolves all pending take() with undefined. */
export class WorkQueue implements Disposable {
  readonly #options: WorkQueueOptions;
  /** Ready keys with the time at which they became ready, in the order of the queue. */
  readonly #ready = new Map<string, number>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #processing = new Set<string>();
  /** Keys that became ready while they were processed. */
  readonly #dirty = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  /** Pending whenAllTaken(). */
  readonly #emptyWaiters: (() => void)[] = [];
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Number of keys that are ready to be taken. */
  get depth(): number {
    return this.#ready.size;
  }

  /** Resolves when no key is ready, or when the queue is disposed. */
  whenAllTaken(): Promise<void> {
    if (this.#ready.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#emptyWaiters.push(resolve));
  }

  /** Number of keys that wait for their time. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Adds the key; it becomes ready after the debounce time. */
  add(key: string): void {
    const { clock, debounceMs, maxDebounceMs } = this.#options;
    const nowMs = clock.nowMs();
    const waiting = this.#waiting.get(key);
    const firstMs = waiting?.firstMs ?? nowMs;
    const settledMs = Math.min(nowMs + debounceMs, firstMs + maxDebounceMs);
    this.#wait(key, { firstMs, settledMs, byMs: waiting?.byMs ?? Infinity });
  }

  /** Adds the key; it becomes ready after `afterMs`. The earliest of several times counts, the others are dropped. */
  addAfter(key: string, afterMs: number): void {
    const waiting = this.#waiting.get(key);
    const byMs = Math.min(waiting?.byMs ?? Infinity, this.#options.clock.nowMs() + afterMs);
    this.#wait(key, { firstMs: waiting?.firstMs, settledMs: waiting?.settledMs ?? Infinity, byMs });
  }

  /** Adds the key after a failure with a back-off, which grows until forget(). Returns the number of failures in a row. */
  retry(key: string, atLeastMs = 0): number {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.addAfter(key, Math.max(atLeastMs, backoffMs(failures, this.#options.backoff, this.#options.random)));
    return failures;
  }

  /** Resets the number of failures of the key. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Resolves with the next ready key, or with undefined when the queue is disposed. Call done() for each key. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#takers.push(resolve);
      this.#serve();
    });
  }

  /** Marks the work on a key as ended, successful or not. */
  done(key: string): void {
    this.#processing.delete(key);
    if (this.#dirty.delete(key)) this.#makeReady(key);
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    for (const { cancel } of this.#waiting.values()) cancel();
    this.#waiting.clear();
    this.#ready.clear();
    this.#dirty.clear();
    for (const resolve of this.#takers.splice(0)) resolve(undefined);
    for (const resolve of this.#emptyWaiters.splice(0)) resolve();
  }

  #wait(key: string, times: Omit<Waiting, "cancel">): void {
    if (this.#closed || this.#ready.has(key)) return;
    this.#waiting.get(key)?.cancel();
    const afterMs = Math.min(times.settledMs, times.byMs) - this.#options.clock.nowMs();
    if (afterMs <= 0) {
      this.#makeReady(key);
      return;
    }
    const cancel = this.#options.clock.after(afterMs, () => {
      this.#makeReady(key);
    });
    this.#waiting.set(key, { ...times, cancel });
  }

  #makeReady(key: string): void {
    if (this.#closed) return;
    this.#waiting.get(key)?.cancel();
    this.#waiting.delete(key);
    if (this.#processing.has(key)) {
      this.#dirty.add(key);
      return;
    }
    if (!this.#ready.has(key)) this.#ready.set(key, this.#options.clock.nowMs());
    this.#serve();
  }

  #serve(): void {
    for (const [key, sinceMs] of this.#ready) {
      const resolve = this.#takers.shift();
      if (resolve === undefined) return;
      this.#ready.delete(key);
      this.#processing.add(key);
      this.#options.onTaken?.(this.#options.clock.nowMs() - sinceMs);
      resolve(key);
    }
    for (const resolve of this.#emptyWaiters.splice(0)) resolve();
  }
}

/** A key that becomes ready at settledMs (debounced additions) or byMs (addAfter), whichever is earlier. */
interface Waiting {
  /** Time of the first of the debounced additions. */
  readonly firstMs: number | undefined;
  readonly settledMs: number;
  readonly byMs: number;
  readonly cancel: () => void;
}
