// SPDX-License-Identifier: Apache-2.0
/**
 * createRecentDeletions tells how long to wait before the absence of an object counts. `kubectl replace --force` and tools such as
 * Argo CD delete an object and create it again a moment later, which must take nothing from a node.
 * Usage: `const waitMs = deletions.remainingMs(); if (waitMs > 0) return { afterMs: waitMs };`
 */
import type { Cache } from "@switchyard/kube";

export interface RecentDeletions {
  /** Milliseconds until the last deletion counts; 0 if it counts. */
  remainingMs(): number;
}

export interface RecentDeletionsOptions {
  /** The objects whose absence takes something from nodes. */
  readonly caches: readonly Pick<Cache<unknown>, "subscribe">[];
  readonly nowMs: () => number;
}

/**
 * An object that is deleted and created again within two seconds counts as present all the time. A deletion that is meant takes effect
 * this much later, which is little beside a drain.
 */
const settleMs = 5_000;

/**
 * Subscribes to the caches until `signal` aborts. An object that was deleted shortly before the start is not known, so the start
 * counts as a deletion.
 */
export function createRecentDeletions({ caches, nowMs }: RecentDeletionsOptions, signal: AbortSignal): RecentDeletions {
  let lastMs = nowMs();
  const subscriptions = caches.map((cache) =>
    cache.subscribe(({ after }) => {
      if (after === undefined) lastMs = nowMs();
    }),
  );
  signal.addEventListener("abort", () => {
    for (const end of subscriptions) end();
  });
  return { remainingMs: () => Math.max(0, lastMs + settleMs - nowMs()) };
}
