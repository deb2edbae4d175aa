// SPDX-License-Identifier: Apache-2.0
/**
 * Promise.all with a bound: file reads take a thread of libuv's few each, and others need some too.
 * Usage: `await mapConcurrently(addresses, 4, (address) => read(address))`.
 */

/** The results in the order of `items`; at most `limit` calls of `map` are under way at once. */
export async function mapConcurrently<Item, Result>(
  items: Iterable<Item>,
  limit: number,
  map: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const queue = [...items].entries();

  async function work(): Promise<void> {
    for (const [index, item] of queue) results[index] = await map(item);
  }

  await Promise.all(Array.from({ length: limit }, work));
  return results;
}
