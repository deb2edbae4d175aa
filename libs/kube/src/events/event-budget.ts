// SPDX-License-Identifier: Apache-2.0
/**
 * createEventBudget limits the writes for the events of each object by one token bucket per object.
 * Usage: `const isAllowed = createEventBudget({ burst: 25, refillMs: 60_000, maxObjects: 1_000, nowMs }).take("Node/worker-0")`.
 */

export interface EventBudgetOptions {
  /** Size of a bucket. */
  readonly burst: number;
  /** Time after which a bucket gets another token. */
  readonly refillMs: number;
  /** Number of buckets. Beyond it, the one that was not used for the longest time is dropped and starts full again. */
  readonly maxObjects: number;
  readonly nowMs: () => number;
}

export interface EventBudget {
  /** Takes a token for a write about this object and returns true, or returns false if the bucket is empty. */
  readonly take: (object: string) => boolean;
}

export function createEventBudget({ burst, refillMs, maxObjects, nowMs }: EventBudgetOptions): EventBudget {
  const buckets = new Map<string, { readonly tokens: number; readonly atMs: number }>();

  return {
    take(object) {
      const atMs = nowMs();
      const before = buckets.get(object) ?? { tokens: burst, atMs };
      const tokens = Math.min(burst, before.tokens + (atMs - before.atMs) / refillMs);
      const isGranted = tokens >= 1;
      buckets.delete(object); // the order of the Map is the order of last use
      buckets.set(object, { tokens: isGranted ? tokens - 1 : tokens, atMs });
      const [oldest] = buckets.size > maxObjects ? buckets.keys() : [];
      if (oldest !== undefined) buckets.delete(oldest);
      return isGranted;
    },
  };
}
