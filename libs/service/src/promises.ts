// SPDX-License-Identifier: Apache-2.0
/**
 * Functions on promises. mapConcurrently limits how many run at once, and createTurns lets them run one after the other.
 * whenAborted turns an abort signal into a promise, for a main function that only has to wait for the end.
 * Usage: `await whenAborted(signal)`.
 */

/** Resolves when `signal` aborts, or at once if it has aborted before. Never rejects. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      resolve();
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

/**
 * mapConcurrently is Promise.all with a limit on how many calls run at once.
 * Calls `map` for each item, at most `limit` calls at once, and returns the results in the order of `items`. Rejects with
 * the first error; calls that are running then are not awaited.
 */
export async function mapConcurrently<Item, Result>(
  items: Iterable<Item>,
  limit: number,
  map: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const queue = [...items].entries();

  // All workers take from one iterator, so each item is taken once.
  async function work(): Promise<void> {
    for (const [index, item] of queue) results[index] = await map(item);
  }

  await Promise.all(Array.from({ length: limit }, work));
  return results;
}

/** Runs actions one after the other. */
export interface Turns {
  /** Calls `act` when all earlier actions with the same key have ended, also those that failed, and returns its result. */
  readonly run: <Result>(act: () => Promise<Result>, key?: string) => Promise<Result>;
  /** Resolves when all actions that wait or run now have ended. Never rejects. */
  readonly ended: () => Promise<void>;
}

/** Actions with different keys run at once. */
export function createTurns(): Turns {
  const last = new Map<string, Promise<void>>();
  return {
    run(act, key = "") {
      const result = (last.get(key) ?? Promise.resolve()).then(act);
      const end = (): void => {
        if (last.get(key) === ended) last.delete(key);
      };
      const ended = result.then(end, end);
      last.set(key, ended);
      return result;
    },
    async ended() {
      await Promise.all(last.values());
    },
  };
}
