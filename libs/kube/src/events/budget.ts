// SPDX-License-Identifier: Apache-2.0
/**
 * How many writes each object's events may cost: a token bucket per object, so that one that flaps floods nobody.
 * Usage: `if (!budget.take("Node/worker-0")) return;`
 */

export interface BudgetOptions {
  /** So many at once ... */
  readonly burst: number;
  /** ... and one more each time this has passed. */
  readonly refillMs: number;
  /** Buckets that are kept. An object that has had none for longest starts anew with a full one. */
  readonly maxObjects: number;
  readonly nowMs: () => number;
}

export interface Budget {
  /** Whether one more may go out for this object; if so it is counted. */
  readonly take: (object: string) => boolean;
}

export function createBudget({ burst, refillMs, maxObjects, nowMs }: BudgetOptions): Budget {
  const buckets = new Map<string, { readonly tokens: number; readonly atMs: number }>();

  return {
    take(object) {
      const atMs = nowMs();
      const before = buckets.get(object) ?? { tokens: burst, atMs };
      const tokens = Math.min(burst, before.tokens + (atMs - before.atMs) / refillMs);
      const isGranted = tokens >= 1;
      buckets.delete(object); // so that the Map's order is that of their last use
      buckets.set(object, { tokens: isGranted ? tokens - 1 : tokens, atMs });
      const [oldest] = buckets.size > maxObjects ? buckets.keys() : [];
      if (oldest !== undefined) buckets.delete(oldest);
      return isGranted;
    },
  };
}
