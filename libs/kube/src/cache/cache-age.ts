// SPDX-License-Identifier: Apache-2.0
/**
 * How old the content of caches is. A watch that fails leaves its cache as it was: without an age, "not there" in a cache
 * that heard its last event hours ago looks like "was deleted".
 * Usage: `if (cache.ageMs > maxAgeMs) await whenFresh([cache], { maxAgeMs, clock, signal });`
 */
import { sleep, type Clock } from "../clock.ts";
import { bootClock } from "../leadership/boot-clock.ts";

/** One cache. */
export interface CacheAge {
  /** Plural: "nodes". */
  readonly resource: string;
  /** Whether the first list is in. */
  readonly synced: boolean;
  /**
   * Since the API server last confirmed the content: by a list, an event, a bookmark, or by accepting a watch from there.
   * Before the first list, since it was asked for.
   */
  readonly ageMs: number;
}

/** Whose watch failed, or could not be used. */
export type FailedWatch = Pick<CacheAge, "resource" | "ageMs">;

/** A cache, or several that are of use together only. */
export interface Ageing {
  /** Of the oldest. */
  readonly ageMs: number;
  readonly ages: readonly CacheAge[];
}

export interface FreshnessLimit {
  readonly maxAgeMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Counts from when it is created, or last heard. Its clock goes on while the machine sleeps, unless given. */
export class HeardClock {
  readonly #clock: Pick<Clock, "nowMs">;
  #heardAtMs: number;

  constructor(clock: Pick<Clock, "nowMs"> = bootClock) {
    this.#clock = clock;
    this.#heardAtMs = clock.nowMs();
  }

  heard(): void {
    this.#heardAtMs = this.#clock.nowMs();
  }

  get ageMs(): number {
    return this.#clock.nowMs() - this.#heardAtMs;
  }
}

/** Those that are older than the limit. */
export function staleAmong(caches: Iterable<Ageing>, maxAgeMs: number): readonly CacheAge[] {
  return Array.from(caches).flatMap(({ ages }) => ages.filter(({ ageMs }) => ageMs > maxAgeMs));
}

/** Resolves once none is older than the limit, within a second; rejects with the signal's reason. */
export async function whenFresh(caches: readonly Pick<Ageing, "ageMs">[], limit: FreshnessLimit): Promise<void> {
  const { maxAgeMs, clock, signal } = limit;
  while (caches.some(({ ageMs }) => ageMs > maxAgeMs)) await sleep(clock, pollMs, signal);
}

// Asked only while one is stale, so that events need not tell anybody of it.
const pollMs = 1_000;
