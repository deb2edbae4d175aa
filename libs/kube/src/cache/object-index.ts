// SPDX-License-Identifier: Apache-2.0
/**
 * ObjectIndex finds keys by the values of named indexes.
 * Usage: `index.update("worker-0", undefined, node); index.keys("pool", "gpu")`.
 */

/** Functions that return the values of an object, by the name of the index. */
export type Indexers<T> = Readonly<Record<string, (value: T) => readonly string[]>>;

export class ObjectIndex<T> {
  readonly #indexers: readonly (readonly [string, (value: T) => readonly string[]])[];
  /** Keys by value by index. */
  readonly #keys = new Map<string, Map<string, Set<string>>>();

  constructor(indexers: Indexers<T>) {
    this.#indexers = Object.entries(indexers);
    for (const [index] of this.#indexers) this.#keys.set(index, new Map());
  }

  /** Returns the keys with `value` in the index. Throws RangeError if the index does not exist. */
  keys(index: string, value: string): Iterable<string> {
    const keysByValue = this.#keys.get(index);
    if (keysByValue === undefined) throw new RangeError(`there is no index "${index}"`);
    return keysByValue.get(value) ?? [];
  }

  /** Replaces the values of `before` by those of `after`. If an indexer throws, nothing changes. */
  update(key: string, before: T | undefined, after: T | undefined): void {
    const places = this.#indexers.map(([index, valuesOf]) => ({
      index,
      old: before === undefined ? [] : valuesOf(before),
      new: after === undefined ? [] : valuesOf(after),
    }));
    for (const place of places) {
      const keysByValue = this.#keys.get(place.index);
      for (const value of place.old) {
        const keys = keysByValue?.get(value);
        keys?.delete(key);
        if (keys?.size === 0) keysByValue?.delete(value);
      }
      for (const value of place.new) {
        const keys = keysByValue?.get(value);
        if (keys) keys.add(key);
        else keysByValue?.set(value, new Set([key]));
      }
    }
  }
}
