// SPDX-License-Identifier: Apache-2.0
/**
 * Events on their way from several sockets to one reader. They are hints to look again: what waits twice is read once, and
 * a reader that is far behind learns only that it missed some.
 * Usage: `const queue = new EventQueue({ signal, keyOf, overrun }); watchLinks(sink, queue.closed); for await (... of queue)`.
 */

export interface EventQueueOptions<Event> {
  /** Ends the queue at once, whatever waits in it. */
  readonly signal: AbortSignal;
  /** Of events with the same key only the last one waits. */
  readonly keyOf: (event: Event) => string;
  /** What the reader gets in place of more than `limit` events. */
  readonly overrun: Event;
  readonly limit?: number;
}

export class EventQueue<Event> implements AsyncIterable<Event> {
  /** Aborted when nobody reads any more: the signal aborted, the reader left its loop, or close() was called. */
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
    // The signal may outlive many queues: the listener goes with this one.
    else options.signal.addEventListener("abort", end, { once: true, signal: this.closed });
  }

  push(event: Event): void {
    const { keyOf, overrun, limit } = this.#options;
    const key = keyOf(event);
    this.#waiting.delete(key); // to the end of the line
    this.#waiting.set(key, event);
    if (this.#waiting.size > limit) {
      this.#waiting.clear();
      this.#waiting.set(keyOf(overrun), overrun);
    }
    this.#wake();
  }

  /** The reader gets `failure` after what waits. */
  fail(failure: Error): void {
    this.#failure = failure;
    this.#wake();
  }

  /** Ends the queue at once, as its signal does. */
  close(): void {
    this.#close.abort();
    this.#wake();
  }

  /** For one reader. */
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
