// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { cacheProblems, showCacheAges } from "./cache-ages.ts";
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
    { does: "has none where all is fresh", caches: [nodes], maxAgeMs: 30_000, problems: [] },
    { does: "names what is too old", caches: [nodes], maxAgeMs: 29_999, problems: ["nodes: not heard of for 30 s"] },
    {
      does: "names what is not synced, and each once",
      caches: [nodes, roles, roles],
      maxAgeMs: 300_000,
      problems: ["roles: not heard of for 312 s", "secrets: not synced"],
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
