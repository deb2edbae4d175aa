// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps a reconcile from running more often for one key than it should: a status that counts nodes would else be written
 * for each of a thousand nodes.
 * Usage: `startController({ reconcile: limitRate(reconcile, { intervalMs: 1_000, nowMs: performance.now }) … })`.
 */
import type { Reconcile } from "@switchyard/kube";

export interface LimitRateOptions {
  /** Least time between the starts of two runs of a key. */
  readonly intervalMs: number;
  /** Monotonic. */
  readonly nowMs: () => number;
}

/**
 * Puts a run that comes too early off to its time. One that asks to come back sooner than that may, and when one that failed
 * comes back is the queue's matter.
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
