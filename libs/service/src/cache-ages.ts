// SPDX-License-Identifier: Apache-2.0
/**
 * What a process shows of the age of its caches: a metric, and why /readyz says no.
 * Usage: `showCacheAges(metrics, () => [nodes, policies]); setNotReady(() => cacheProblems([nodes, policies], maxAgeMs));`
 */
import { Gauge, type Registry } from "./prom-client.cjs";

/** Caches that follow the API server, of one resource or several. */
export interface AgeingCaches {
  readonly ages: readonly {
    /** Plural: "nodes". */
    readonly resource: string;
    /** Whether the first list is in. */
    readonly synced: boolean;
    /** Since the API server last confirmed the content. */
    readonly ageMs: number;
  }[];
}

/** Of each resource the oldest cache, whenever somebody asks. */
export function showCacheAges(registry: Registry, caches: () => Iterable<AgeingCaches>): void {
  new Gauge({
    name: "switchyard_cache_age_seconds",
    help: "Time since the API server last confirmed what a cache has, by a list, an event or a bookmark; above 75 something is wrong.",
    labelNames: ["resource"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [resource, ageMs] of oldestByResource(caches())) this.set({ resource }, ageMs / 1000);
    },
  });
}

/** A sentence for each resource that is not synced, or that was not confirmed for longer than `maxAgeMs`. */
export function cacheProblems(caches: Iterable<AgeingCaches>, maxAgeMs: number): readonly string[] {
  const problems = Array.from(caches).flatMap(({ ages }) =>
    ages.flatMap(({ resource, synced, ageMs }) => {
      if (!synced) return [`${resource}: not synced`];
      if (ageMs <= maxAgeMs) return [];
      return [`${resource}: not heard of for ${Math.round(ageMs / 1000)} s`];
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
