// SPDX-License-Identifier: Apache-2.0
/**
 * createTurns runs calls with the same key one after the other, and calls with different keys at once.
 */
export interface Turns {
  /** Calls `act` when all earlier calls with the key have ended, and returns its result. */
  run<Value>(key: string, act: () => Promise<Value>): Promise<Value>;
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return {
    run(key, act) {
      const before = last.get(key) ?? Promise.resolve();
      const mine = before.then(act, act);
      // The error of one call is no error of the next one.
      const settled = mine.then(
        () => undefined,
        () => undefined,
      );
      last.set(key, settled);
      void settled.then(() => {
        if (last.get(key) === settled) last.delete(key);
      });
      return mine;
    },
  };
}
