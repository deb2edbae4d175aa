// SPDX-License-Identifier: Apache-2.0
/**
 * Named indexes over keyed values.
 * Usage: `index.refile("worker-0", undefined, node); index.keys("pool", "gpu")`.
 */

/** Name of an index -> the values that it files an object under. */
export type Indexers<T> = Readonly<Record<string, (value: T) => readonly string[]>>;

export class ObjectIndex<T> {
  readonly #indexers: readonly (readonly [string, (value: T) => readonly string[]])[];
  /** Index -> value -> keys. */
  readonly #filed = new Map<string, Map<string, Set<string>>>();

  constructor(indexers: Indexers<T>) {
    this.#indexers = Object.entries(indexers);
    for (const [index] of this.#indexers) this.#filed.set(index, new Map());
  }

  /** Throws RangeError if there is no such index. */
  keys(index: string, value: string): Iterable<string> {
    const keysByValue = this.#filed.get(index);
    if (keysByValue === undefined) throw new RangeError(`there is no index "${index}"`);
    return keysByValue.get(value) ?? [];
  }

  /** Files the key as `after` has it; `before` is what it was filed as. If an indexer throws, nothing has changed. */
  refile(key: string, before: T | undefined, after: T | undefined): void {
    const places = this.#indexers.map(([index, valuesOf]) => ({
      index,
      old: before === undefined ? [] : valuesOf(before),
      new: after === undefined ? [] : valuesOf(after),
    }));
    for (const place of places) {
      const keysByValue = this.#filed.get(place.index);
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
