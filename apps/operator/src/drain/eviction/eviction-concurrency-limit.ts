// SPDX-License-Identifier: Apache-2.0
/**
 * EvictionConcurrencyLimit limits how many evictions run at once, over all nodes. Each node may always run one eviction
 * and takes the others from this shared limit. An eviction can hang for as long as an admission webhook does, and
 * evictions must not use up the connections to the API server that the Lease renewal needs.
 * Usage: `const more = limit.acquire(7); try { await work(1 + more); } finally { limit.release(more); }`
 */

export interface EvictionConcurrencyLimit {
  /** Takes as many as are free, at most `most`, and returns their number. */
  acquire(most: number): number;
  release(count: number): void;
}

export function createEvictionConcurrencyLimit(count: number): EvictionConcurrencyLimit {
  let free = count;
  return {
    acquire(most) {
      const acquired = Math.max(0, Math.min(free, most));
      free -= acquired;
      return acquired;
    },
    release(released) {
      free += released;
    },
  };
}
