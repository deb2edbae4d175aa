// SPDX-License-Identifier: Apache-2.0
/** createRandom makes the random numbers of a fuzz run. The same seed makes the same numbers. */

export interface Random {
  /** Returns a whole number from 0 to `limit` - 1; 0 if the limit is 0. */
  below(limit: number): number;
  /** Returns one of the items. Throws RangeError for an empty list. */
  pick<Item>(items: readonly Item[]): Item;
  /** Returns true in one of `times` cases. */
  oneIn(times: number): boolean;
}

/** The generator is xorshift32 (Marsaglia, "Xorshift RNGs", 2003). */
export function createRandom(seed: number): Random {
  let state = (Math.imul(seed, 0x9e3779b1) ^ 0x85ebca6b) >>> 0 || 1;

  function next(): number {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  }

  function below(limit: number): number {
    return limit <= 1 ? 0 : next() % limit;
  }

  return {
    below,
    pick(items) {
      const item = items[below(items.length)];
      if (item === undefined) throw new RangeError("an empty list has no item to pick");
      return item;
    },
    oneIn: (times) => below(times) === 0,
  };
}
