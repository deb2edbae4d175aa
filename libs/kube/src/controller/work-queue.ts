// SPDX-License-Identifier: Apache-2.0
/**
 * Keys that want work. A key is in it once however often it was added, and is never taken twice at a time: what comes
 * while it is worked on runs after. Model: client-go's workqueue.
 * Usage: `while ((key = await queue.take()) !== undefined) await work(key).finally(() => queue.done(key))`.
 */
import { backoffMs, type BackoffRange } from "./backoff.ts";
import type { Clock } from "../clock.ts";

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** A key that was added becomes ready once nothing has added it for this long ... */
  readonly debounceMs: number;
  /** ... or this long after the first of those additions. */
  readonly maxDebounceMs: number;
  readonly backoff: BackoffRange;
  /** Told, as a key is taken, how long it was ready. */
  readonly onTaken?: ((latencyMs: number) => void) | undefined;
}

/** Disposing it drops all keys and answers all takers with undefined. */
export class WorkQueue implements Disposable {
  readonly #options: WorkQueueOptions;
  /** Key -> ready since. Its order is the queue's. */
  readonly #ready = new Map<string, number>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #processing = new Set<string>();
  /** Became ready while processing. */
  readonly #dirty = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  /** Who waits until nothing is ready. */
  readonly #bystanders: (() => void)[] = [];
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Keys that are ready to be taken. */
  get depth(): number {
    return this.#ready.size;
  }

  /** Resolves once no key is ready that nobody has taken: at once, when the last one is, or when the queue is closed. */
  whenAllTaken(): Promise<void> {
    if (this.#ready.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#bystanders.push(resolve));
  }

  /** Keys whose time has not come. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Wants work on the key, after the debounce window. */
  add(key: string): void {
    const { clock, debounceMs, maxDebounceMs } = this.#options;
    const nowMs = clock.nowMs();
    const waiting = this.#waiting.get(key);
    const firstMs = waiting?.firstMs ?? nowMs;
    const settledMs = Math.min(nowMs + debounceMs, firstMs + maxDebounceMs);
    this.#wait(key, { firstMs, settledMs, byMs: waiting?.byMs ?? Infinity });
  }

  /** Wants work on the key in `afterMs`. What is sooner wins, and drops what is later. */
  addAfter(key: string, afterMs: number): void {
    const waiting = this.#waiting.get(key);
    const byMs = Math.min(waiting?.byMs ?? Infinity, this.#options.clock.nowMs() + afterMs);
    this.#wait(key, { firstMs: waiting?.firstMs, settledMs: waiting?.settledMs ?? Infinity, byMs });
  }

  /** Wants work on the key again after a failure, later each time until forget(). Returns the failures in a row. */
  retry(key: string, atLeastMs = 0): number {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.addAfter(key, Math.max(atLeastMs, backoffMs(failures, this.#options.backoff, this.#options.random)));
    return failures;
  }

  /** Ends the key's row of failures. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key, once there is one; undefined once the queue is closed. Each key taken needs its done(). */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#takers.push(resolve);
      this.#serve();
    });
  }

  /** The work on a key has ended, well or not. */
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
    for (const answer of this.#takers.splice(0)) answer(undefined);
    for (const tell of this.#bystanders.splice(0)) tell();
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
      const answer = this.#takers.shift();
      if (answer === undefined) return;
      this.#ready.delete(key);
      this.#processing.add(key);
      this.#options.onTaken?.(this.#options.clock.nowMs() - sinceMs);
      answer(key);
    }
    for (const tell of this.#bystanders.splice(0)) tell();
  }
}

/** Due at the earlier of settledMs (additions, debounced) and byMs (addAfter). */
interface Waiting {
  /** The first of the additions that are debounced now. */
  readonly firstMs: number | undefined;
  readonly settledMs: number;
  readonly byMs: number;
  readonly cancel: () => void;
}
