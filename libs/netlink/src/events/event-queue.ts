// SPDX-License-Identifier: Apache-2.0
/**
 * EventQueue passes events from several sockets to one reader. Events are hints to read the current state: repeated events
 * are merged, and a reader that is far behind gets only one overrun event.
 * Usage: `const queue = new EventQueue({ signal, keyOf, overrun }); for await (const event of queue) console.log(event)`.
 */

export interface EventQueueOptions<Event> {
  /** Ends the queue at once and drops the remaining events. */
  readonly signal: AbortSignal;
  /** Of several events with the same key, the queue keeps only the last one. */
  readonly keyOf: (event: Event) => string;
  /** The event that replaces more than `limit` events. */
  readonly overrun: Event;
  readonly limit?: number;
}

export class EventQueue<Event> implements AsyncIterable<Event> {
  /** Aborts when the signal aborts, the reader leaves its loop, or close() is called. */
  readonly closed: AbortSignal;
  readonly #close = new AbortController();
  readonly #options: Required<EventQueueOptions<Event>>;
  readonly #waiting = new Map<string, Event>();
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(options: EventQueueOptions<Event>) {
    this.#options = { limit: 4096, ...options };
    this.closed = this.#close.signal;
    const end = () => {
      this.close();
    };
    if (options.signal.aborted) end();
    // The signal can live longer than many queues, so the listener is removed with this one.
    else options.signal.addEventListener("abort", end, { once: true, signal: this.closed });
  }

  push(event: Event): void {
    const { keyOf, overrun, limit } = this.#options;
    const key = keyOf(event);
    this.#waiting.delete(key); // the new event goes to the end
    this.#waiting.set(key, event);
    if (this.#waiting.size > limit) {
      this.#waiting.clear();
      this.#waiting.set(keyOf(overrun), overrun);
    }
    this.#wake();
  }

  /** Makes the reader throw `failure` after the remaining events. */
  fail(failure: Error): void {
    this.#failure = failure;
    this.#wake();
  }

  /** Ends the queue at once, like its signal. */
  close(): void {
    this.#close.abort();
    this.#wake();
  }

  /** Supports one reader. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    try {
      while (!this.closed.aborted) {
        const [next] = this.#waiting;
        if (next !== undefined) {
          const [key, event] = next;
          this.#waiting.delete(key);
          yield event;
        } else if (this.#failure !== undefined) {
          throw this.#failure;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      this.close();
    }
  }
}
