// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps a reconcile from running more often for one key than it should: a status that counts nodes would else be written
 * for each of a thousand nodes.
 * Usage: `startController({ reconcile: pace(reconcile, { intervalMs: 1_000, nowMs: performance.now }) … })`.
 */
import type { Reconcile } from "@switchyard/kube";

export interface PaceOptions {
  /** Least time between the starts of two runs of a key. */
  readonly intervalMs: number;
  /** Monotonic. */
  readonly nowMs: () => number;
}

/** Puts a run that comes too early off to its time. */
export function pace(reconcile: Reconcile, { intervalMs, nowMs }: PaceOptions): Reconcile {
  const startedMs = new Map<string, number>();
  return async (key, signal) => {
    const waitMs = (startedMs.get(key) ?? -Infinity) + intervalMs - nowMs();
    if (waitMs > 0) return { afterMs: waitMs };
    for (const [old, at] of startedMs) if (at + intervalMs <= nowMs()) startedMs.delete(old);
    startedMs.set(key, nowMs());
    return reconcile(key, signal);
  };
}
