// SPDX-License-Identifier: Apache-2.0
/**
 * Hands that the evictions of all nodes share; each node has one of its own beside. An eviction may hang for as long as a
 * webhook does, and all requests share a few connections: those that renew the lease must find one free.
 * Usage: `const more = spare.take(7); … spare.giveBack(more);`
 */

export interface EvictionConcurrencyLimit {
  /** As many as are free, `most` at most. */
  take(most: number): number;
  giveBack(count: number): void;
}

export function createEvictionConcurrencyLimit(count: number): EvictionConcurrencyLimit {
  let free = count;
  return {
    take(most) {
      const taken = Math.max(0, Math.min(free, most));
      free -= taken;
      return taken;
    },
    giveBack(taken) {
      free += taken;
    },
  };
}
