// SPDX-License-Identifier: Apache-2.0
/**
 * CacheAge is the age of a cache's content, and whenFresh waits for caches that are too old. A cache does not change while
 * its watch fails. Without an age, an object that is missing in an old cache looks as if it was deleted.
 * Usage: `await whenFresh([cache], { maxAgeMs: 300_000, clock: systemClock, signal })`.
 */
import { bootClock, createBootClock, sleep, type Clock } from "../clock.ts";

/** State and age of one cache. */
export interface CacheAge {
  /** Plural name: "nodes". */
  readonly resource: string;
  /** Whether the first list is complete. */
  readonly synced: boolean;
  /**
   * Time since the API server last confirmed the content by a list, an event or a bookmark, or by accepting a watch if it
   * sends no bookmarks. Before the first list: time since it was requested.
   */
  readonly ageMs: number;
  /** "Forbidden (list nodes)" while the API server refuses the requests that fill the cache. */
  readonly refusal?: string | undefined;
}

/** The cache whose watch failed or whose object could not be processed. */
export type FailedWatch = Pick<CacheAge, "resource" | "ageMs">;

/** One cache, or several that are used together. */
export interface HasAge {
  /** Age of the oldest cache. */
  readonly ageMs: number;
  readonly ages: readonly CacheAge[];
}

export interface FreshnessLimit {
  readonly maxAgeMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Ages are compared with minutes, and each event and each reconcile of a fleet asks for them. */
const ageClock = createBootClock({ uptimeMs: () => bootClock.nowMs(), wallMs: Date.now, stepMs: 100 });

/** Measures the time since its creation or the last confirmed(). Its default clock continues while the machine is suspended. */
export class FreshnessClock {
  readonly #clock: Pick<Clock, "nowMs">;
  #confirmedAtMs: number;

  constructor(clock: Pick<Clock, "nowMs"> = ageClock) {
    this.#clock = clock;
    this.#confirmedAtMs = clock.nowMs();
  }

  confirmed(): void {
    this.#confirmedAtMs = this.#clock.nowMs();
  }

  get ageMs(): number {
    return this.#clock.nowMs() - this.#confirmedAtMs;
  }
}

/** Returns the caches that are older than the limit. */
export function staleAmong(caches: Iterable<HasAge>, maxAgeMs: number): readonly CacheAge[] {
  return Array.from(caches).flatMap(({ ages }) => ages.filter(({ ageMs }) => ageMs > maxAgeMs));
}

/** Resolves within a second when no cache is older than the limit; rejects with the signal's reason. */
export async function whenFresh(caches: readonly Pick<HasAge, "ageMs">[], limit: FreshnessLimit): Promise<void> {
  const { maxAgeMs, clock, signal } = limit;
  while (caches.some(({ ageMs }) => ageMs > maxAgeMs)) await sleep(clock, pollMs, signal);
}

// Polling is needed only while a cache is stale, and events stay free of notifications.
const pollMs = 1_000;
