// SPDX-License-Identifier: Apache-2.0
/**
 * showCacheAges exposes the age of the caches as a metric, and cacheProblems lists caches that are not usable, for /readyz.
 * Usage: `showCacheAges(metrics, () => [nodes, policies]); const problems = cacheProblems([nodes, policies], 300_000);`
 */
import type { Logger } from "./logger.ts";
import { Gauge, type Registry } from "./prom-client.cjs";

/** The ages of one or more caches. libs/kube has the same shape. */
export interface AgeingCaches {
  readonly ages: readonly {
    /** Plural name: "nodes". */
    readonly resource: string;
    /** Whether the first list is complete. */
    readonly synced: boolean;
    /** Time since the API server last confirmed the content. */
    readonly ageMs: number;
    /** "Forbidden (list nodes)" while the API server refuses the requests that fill the cache. */
    readonly refusal?: string | undefined;
  }[];
}

/** Adds the metric switchyard_cache_age_seconds, with the oldest cache of each resource at the time of the scrape. */
export function showCacheAges(registry: Registry, caches: () => Iterable<AgeingCaches>): void {
  new Gauge({
    name: "switchyard_cache_age_seconds",
    help: "Time in seconds since the API server last confirmed the content of a cache, which it does once a minute. A value above 75 is a problem.",
    labelNames: ["resource"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [resource, ageMs] of oldestByResource(caches())) this.set({ resource }, ageMs / 1000);
    },
  });
}

/** Returns one line for each resource with a cache that is not synced or is older than `maxAgeMs`. */
export function cacheProblems(caches: Iterable<AgeingCaches>, maxAgeMs: number): readonly string[] {
  const problems = Array.from(caches).flatMap(({ ages }) =>
    ages.flatMap(({ resource, synced, ageMs, refusal }) => {
      const cause = refusal === undefined ? "" : `: ${refusal}`;
      if (!synced) return [`${resource}: cache is not synced${cause}`];
      if (ageMs <= maxAgeMs) return [];
      const age = `${Math.round(ageMs / 1000)} s ago${cause}`;
      return [`${resource}: cache is stale; the API server last confirmed it ${age}`];
    }),
  );
  return [...new Set(problems)];
}

function oldestByResource(caches: Iterable<AgeingCaches>): ReadonlyMap<string, number> {
  const oldest = new Map<string, number>();
  for (const { ages } of caches) {
    for (const { resource, ageMs } of ages) oldest.set(resource, Math.max(ageMs, oldest.get(resource) ?? 0));
  }
  return oldest;
}

/** A cache of an optional kind. libs/kube has the same shape. */
export interface OptionalCache {
  readonly ages: readonly { readonly resource: string }[];
  /** False if the API server answered that it does not serve the kind. */
  readonly served: boolean;
  /** Resolves after the first list, or after that answer. Rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
}

interface LogAbsentKindsOptions {
  readonly log: Pick<Logger, "info">;
  readonly signal: AbortSignal;
  /** What does not run without the kinds, as a sentence without a full stop. */
  readonly effect: string;
}

/**
 * logAbsentKinds says once, when a process starts, which optional kinds the API server does not serve, and what does not run
 * without them. If the kinds are installed later, the caches find them, and the process needs no restart. Resolves when all
 * caches are synced and the message is logged, or when the signal aborts.
 */
export async function logAbsentKinds(
  caches: readonly OptionalCache[],
  { log, signal, effect }: LogAbsentKindsOptions,
): Promise<void> {
  try {
    await Promise.all(caches.map((cache) => cache.whenSynced(signal)));
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  const absent = caches.filter(({ served }) => !served);
  const resources = absent.flatMap(({ ages }) => ages.map(({ resource }) => resource));
  if (resources.length > 0) log.info({ resources, effect }, "CustomResourceDefinitions are not installed");
}
