// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { cacheProblems, showCacheAges } from "./caches.ts";
import { Registry } from "./prom-client.cjs";

const nodes = { ages: [{ resource: "nodes", synced: true, ageMs: 30_000 }] };
const roles = {
  ages: [
    { resource: "roles", synced: true, ageMs: 10_000 },
    { resource: "roles", synced: true, ageMs: 312_400 },
    { resource: "secrets", synced: false, ageMs: 2_000 },
  ],
};

describe("cacheProblems", () => {
  it.each([
    { does: "returns nothing when all caches are fresh", caches: [nodes], maxAgeMs: 30_000, problems: [] },
    {
      does: "reports a stale cache",
      caches: [nodes],
      maxAgeMs: 29_999,
      problems: ["nodes: cache is stale; the API server last confirmed it 30 s ago"],
    },
    {
      does: "reports caches that are not synced, and each problem once",
      caches: [nodes, roles, roles],
      maxAgeMs: 300_000,
      problems: ["roles: cache is stale; the API server last confirmed it 312 s ago", "secrets: cache is not synced"],
    },
    {
      does: "names the right that is missing",
      caches: [{ ages: [{ resource: "nodes", synced: false, ageMs: 1, refusal: "Forbidden (list nodes)" }] }],
      maxAgeMs: 300_000,
      problems: ["nodes: cache is not synced: Forbidden (list nodes)"],
    },
  ])("$does", ({ caches, maxAgeMs, problems }) => {
    expect(cacheProblems(caches, maxAgeMs)).toEqual(problems);
  });
});

describe("showCacheAges", () => {
  it("shows the oldest cache of each resource", async () => {
    const registry = new Registry();
    showCacheAges(registry, () => [nodes, roles]);
    const lines = (await registry.metrics()).split("\n").filter((line) => !line.startsWith("#") && line !== "");
    expect(lines).toEqual([
      'switchyard_cache_age_seconds{resource="nodes"} 30',
      'switchyard_cache_age_seconds{resource="roles"} 312.4',
      'switchyard_cache_age_seconds{resource="secrets"} 2',
    ]);
  });
});
