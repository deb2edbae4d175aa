// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { err, ok } from "@switchyard/api";
import fc from "fast-check";
import { planDrains, type DrainNode, type DrainPool } from "./plan-drains.ts";

function pools(limits: Readonly<Record<string, number>>): ReadonlyMap<string, DrainPool> {
  return new Map(Object.entries(limits).map(([name, limit]) => [name, { title: `pool "${name}"`, limit: ok(limit) }]));
}

function waiting(name: string, requestedMs: number, ...of: readonly string[]): DrainNode {
  return { name, requestedMs, phase: "waiting", pools: of.length > 0 ? of : ["a"] };
}

function holding(name: string, ...of: readonly string[]): DrainNode {
  return { name, requestedMs: 0, phase: "holding", pools: of.length > 0 ? of : ["a"] };
}

function rank({ phase }: DrainNode): number {
  return phase === "resuming" ? 0 : 1;
}

describe("planDrains", () => {
  it("admits nodes in the order of their requests, and those with the same time by name", () => {
    const nodes = [waiting("n3", 1), waiting("n2", 5), waiting("n1", 5), waiting("n0", 9)];
    const { admitted, positions } = planDrains(nodes, pools({ a: 2 }));
    expect(admitted).toEqual(["n3", "n1"]);
    expect(positions.get("n2")).toMatchObject({ kind: "queued", ahead: 0, holders: [] });
    expect(positions.get("n0")).toMatchObject({ kind: "queued", ahead: 1 });
  });

  it("counts and names the nodes that hold slots", () => {
    const { admitted, positions } = planDrains([holding("w4"), holding("w1"), waiting("w2", 1)], pools({ a: 2 }));
    expect(admitted).toEqual([]);
    expect(positions.get("w2")).toMatchObject({ holders: ["w1", "w4"], ahead: 0 });
  });

  it("admits all nodes if there is no limit", () => {
    const nodes = Array.from({ length: 50 }, (_, index) => waiting(`n${index}`, index));
    expect(planDrains(nodes, pools({ a: Infinity })).admitted).toHaveLength(50);
  });

  it("holds all nodes if the limit is 0 or invalid, and returns the reason", () => {
    const broken = new Map([["a", { title: 'pool "a"', limit: err("its maxUnavailable is odd") }]]);
    for (const [some, reason] of [
      [pools({ a: 0 }), "its maxUnavailable is 0"],
      [broken, "its maxUnavailable is odd"],
    ] as const) {
      expect(planDrains([waiting("n", 1)], some).positions.get("n")).toMatchObject({ kind: "held", reason });
    }
  });

  it("applies the strictest limit to a node in several pools", () => {
    const nodes = [holding("x", "strict"), waiting("both", 1, "wide", "strict")];
    const { admitted, positions } = planDrains(nodes, pools({ wide: 5, strict: 1 }));
    expect([admitted, positions.get("both")]).toMatchObject([[], { pool: { title: 'pool "strict"' }, holders: ["x"] }]);
  });

  it("admits a node that had a slot and lost its answer first, but never exceeds the limit", () => {
    const resuming: DrainNode = { name: "z", requestedMs: 9, phase: "resuming", pools: ["a"] };
    const nodes = [waiting("n0", 1), resuming];
    expect(planDrains(nodes, pools({ a: 1 })).admitted).toEqual(["z"]);
    const { admitted, positions } = planDrains([holding("x"), ...nodes], pools({ a: 1 }));
    expect([admitted, positions.get("z"), positions.get("n0")]).toMatchObject([[], { ahead: 0 }, { ahead: 1 }]);
  });

  it("lets no other node overtake a node that needs slots of two pools", () => {
    const nodes = [holding("x", "b"), waiting("both", 1, "a", "b"), waiting("later", 2, "a")];
    expect(planDrains(nodes, pools({ a: 1, b: 1 })).admitted).toEqual([]);
    expect(planDrains(nodes.slice(1), pools({ a: 1, b: 1 })).admitted).toEqual(["both"]);
  });

  it("does not let a pool that allows no drains delay nodes of other pools", () => {
    const nodes = [waiting("both", 1, "a", "held"), waiting("later", 2, "a")];
    expect(planDrains(nodes, pools({ a: 1, held: 0 })).admitted).toEqual(["later"]);
  });

  it("never exceeds a limit, and leaves no node waiting that could be admitted", () => {
    const names = ["a", "b", "c"] as const;
    const node = fc.record({
      name: fc.uuid(),
      pools: fc.subarray([...names], { minLength: 1 }),
      phase: fc.constantFrom("idle", "waiting", "resuming", "holding"),
      requestedMs: fc.nat(5),
    });
    const limits = fc.record({ a: fc.nat(4), b: fc.nat(4), c: fc.nat(4) });
    const holds = fc.property(fc.uniqueArray(node, { selector: ({ name }) => name }), limits, (nodes, limit) => {
      const { admitted, positions } = planDrains(nodes, pools(limit));
      for (const pool of names) {
        const inPool = nodes.filter((each) => each.pools.includes(pool));
        const before = inPool.filter(({ phase }) => phase === "holding").length;
        const after = before + inPool.filter(({ name }) => admitted.includes(name)).length;
        expect(after).toBeLessThanOrEqual(Math.max(limit[pool], before));
      }
      const waits = nodes.filter(({ phase }) => phase === "waiting" || phase === "resuming").map(({ name }) => name);
      expect([...admitted, ...positions.keys()].sort()).toEqual(waits.sort());
      const [first] = nodes
        .filter(({ name, pools: of }) => waits.includes(name) && of.every((pool) => limit[pool] > 0))
        .sort((x, y) => rank(x) - rank(y) || x.requestedMs - y.requestedMs || (x.name < y.name ? -1 : 1));
      const fits = first?.pools.every((pool) => {
        return nodes.filter((each) => each.phase === "holding" && each.pools.includes(pool)).length < limit[pool];
      });
      if (first !== undefined && fits === true) expect(admitted[0]).toBe(first.name);
    });
    fc.assert(holds);
  });
});
