// SPDX-License-Identifier: Apache-2.0
/**
 * FairTurns lets one review run at a time and serves clients in rotation, so that a client that sends many reviews delays those of
 * others by at most one review each. Between two turns the event loop handles connections and probes. The number of waiting reviews
 * and their time are limited, because the API server gives up after 10 s.
 */

export interface FairTurnsOptions {
  /** Most reviews that wait, over all clients. */
  readonly maxWaiting: number;
  readonly maxWaitingPerClient: number;
  /** A review that has waited longer is refused. */
  readonly maxWaitMs: number;
  /** A monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  /** Runs the callback after pending I/O; setImmediate by default. */
  readonly later?: (run: () => void) => void;
}

interface Waiting {
  readonly sinceMs: number;
  readonly resolve: (mayRun: boolean) => void;
}

export class FairTurns {
  readonly #options: FairTurnsOptions;
  /** Those that wait, by client. The next client is the first one; after its turn it goes to the end. */
  readonly #waiting = new Map<string, Waiting[]>();
  #numWaiting = 0;
  #isBusy = false;

  constructor(options: FairTurnsOptions) {
    this.#options = options;
  }

  /** Resolves with true when it is the turn of a review of this client, and with false if too many wait or it waited too long. */
  take(client: string): Promise<boolean> {
    if (!this.#isBusy) {
      this.#begin();
      return Promise.resolve(true);
    }
    const own = this.#waiting.get(client) ?? [];
    if (own.length >= this.#options.maxWaitingPerClient) return Promise.resolve(false);
    if (this.#numWaiting >= this.#options.maxWaiting && !this.#refuseOneOfLongerThan(own.length + 1))
      return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    own.push({ sinceMs: this.#options.nowMs(), resolve });
    this.#waiting.set(client, own);
    this.#numWaiting++;
    return promise;
  }

  /** The review runs in this turn of the event loop. The next one runs after the I/O that is pending then. */
  #begin(): void {
    this.#isBusy = true;
    const { later = setImmediate } = this.#options;
    later(() => {
      this.#isBusy = false;
      this.#next();
    });
  }

  #next(): void {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      const [client, own] = first;
      const review = own.shift();
      this.#waiting.delete(client);
      if (own.length > 0) this.#waiting.set(client, own);
      if (review === undefined) continue;
      this.#numWaiting--;
      const isLate = this.#options.nowMs() - review.sinceMs > this.#options.maxWaitMs;
      if (!isLate) this.#begin();
      review.resolve(!isLate);
      if (!isLate) return;
    }
  }

  /** Makes room by refusing the newest review of the client with the most, if it has more than `length`. */
  #refuseOneOfLongerThan(length: number): boolean {
    const longest = [...this.#waiting.values()].reduce<Waiting[]>(
      (most, own) => (own.length > most.length ? own : most),
      [],
    );
    if (longest.length <= length) return false;
    longest.pop()?.resolve(false);
    this.#numWaiting--;
    return true;
  }
}
