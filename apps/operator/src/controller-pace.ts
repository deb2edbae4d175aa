// SPDX-License-Identifier: Apache-2.0
/**
 * limitRate limits how often a reconcile function runs for one key. Otherwise a status that counts nodes would be
 * written for each of a thousand nodes.
 */
import type { Reconcile, Requeue } from "@switchyard/kube";

/** About as many concurrent writes of node states as keep one API server busy; more would only queue there. */
export const parallelNodes = 24;

/**
 * recheckSoon is the requeue after a conflict: another writer changed the object, and the cache shows the change soon.
 */
export const recheckSoon: Requeue = { afterMs: 100 };

export interface LimitRateOptions {
  /** Least time between the starts of two runs for a key. */
  readonly intervalMs: number;
  /** A monotonic clock. */
  readonly nowMs: () => number;
}

/**
 * Postpones a run that comes too early. A run that requests a shorter requeue gets it. After a failure, the queue's
 * backoff decides.
 */
export function limitRate(reconcile: Reconcile, { intervalMs, nowMs }: LimitRateOptions): Reconcile {
  const nextMs = new Map<string, number>();
  return async (key, signal) => {
    const startedMs = nowMs();
    const waitMs = (nextMs.get(key) ?? -Infinity) - startedMs;
    if (waitMs > 0) return { afterMs: waitMs };
    for (const [old, at] of nextMs) if (at <= startedMs) nextMs.delete(old);
    nextMs.set(key, startedMs + intervalMs);
    const requeue = await reconcile(key, signal).catch((error: unknown) => {
      nextMs.delete(key);
      throw error;
    });
    if (requeue !== undefined) nextMs.set(key, startedMs + Math.min(requeue.afterMs, intervalMs));
    return requeue;
  };
}
