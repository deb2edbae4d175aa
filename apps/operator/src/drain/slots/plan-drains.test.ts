// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { err, ok } from "@switchyard/api";
import fc from "fast-check";
import { planDrains, type DrainNode, type DrainPool } from "./plan-drains.ts";

function pools(limits: Readonly<Record<string, number>>): ReadonlyMap<string, DrainPool> {
  return new Map(Object.entries(limits).map(([name, limit]) => [name, { title: `pool "${name}"`, limit: ok(limit) }]));
}

function waiting(name: string, askedMs: number, ...of: readonly string[]): DrainNode {
  return { name, askedMs, phase: "waiting", pools: of.length > 0 ? of : ["a"] };
}

function taking(name: string, ...of: readonly string[]): DrainNode {
  return { name, askedMs: 0, phase: "taking", pools: of.length > 0 ? of : ["a"] };
}

function rank({ phase }: DrainNode): number {
  return phase === "resuming" ? 0 : 1;
}

describe("planDrains", () => {
  it("admits who asked first, and those who asked at once by name", () => {
    const nodes = [waiting("n3", 1), waiting("n2", 5), waiting("n1", 5), waiting("n0", 9)];
    const { admitted, places } = planDrains(nodes, pools({ a: 2 }));
    expect(admitted).toEqual(["n3", "n1"]);
    expect(places.get("n2")).toMatchObject({ kind: "queued", before: 0, taking: [] });
    expect(places.get("n0")).toMatchObject({ kind: "queued", before: 1 });
  });

  it("counts the nodes that take slots, and names them", () => {
    const { admitted, places } = planDrains([taking("w4"), taking("w1"), waiting("w2", 1)], pools({ a: 2 }));
    expect(admitted).toEqual([]);
    expect(places.get("w2")).toMatchObject({ taking: ["w1", "w4"], before: 0 });
  });

  it("admits all where there is no limit", () => {
    const nodes = Array.from({ length: 50 }, (_, index) => waiting(`n${index}`, index));
    expect(planDrains(nodes, pools({ a: Infinity })).admitted).toHaveLength(50);
  });

  it("holds all where the limit is 0 or makes no sense, and says why", () => {
    const broken = new Map([["a", { title: 'pool "a"', limit: err("its maxUnavailable is odd") }]]);
    for (const [some, why] of [
      [pools({ a: 0 }), "its maxUnavailable is 0"],
      [broken, "its maxUnavailable is odd"],
    ] as const) {
      expect(planDrains([waiting("n", 1)], some).places.get("n")).toMatchObject({ kind: "held", why });
    }
  });

  it("holds a node in several pools to the strictest of them", () => {
    const nodes = [taking("x", "strict"), waiting("both", 1, "wide", "strict")];
    const { admitted, places } = planDrains(nodes, pools({ wide: 5, strict: 1 }));
    expect([admitted, places.get("both")]).toMatchObject([[], { pool: { title: 'pool "strict"' }, taking: ["x"] }]);
  });

  it("serves first who had a slot and lost its answer, but never beyond the limit", () => {
    const resuming: DrainNode = { name: "z", askedMs: 9, phase: "resuming", pools: ["a"] };
    const nodes = [waiting("n0", 1), resuming];
    expect(planDrains(nodes, pools({ a: 1 })).admitted).toEqual(["z"]);
    const { admitted, places } = planDrains([taking("x"), ...nodes], pools({ a: 1 }));
    expect([admitted, places.get("z"), places.get("n0")]).toMatchObject([[], { before: 0 }, { before: 1 }]);
  });

  it("lets nobody overtake a node that needs slots of two pools", () => {
    const nodes = [taking("x", "b"), waiting("both", 1, "a", "b"), waiting("later", 2, "a")];
    expect(planDrains(nodes, pools({ a: 1, b: 1 })).admitted).toEqual([]);
    expect(planDrains(nodes.slice(1), pools({ a: 1, b: 1 })).admitted).toEqual(["both"]);
  });

  it("does not let a pool that holds drains hold those of others", () => {
    const nodes = [waiting("both", 1, "a", "held"), waiting("later", 2, "a")];
    expect(planDrains(nodes, pools({ a: 1, held: 0 })).admitted).toEqual(["later"]);
  });

  it("never exceeds a limit, and leaves nobody waiting who could go", () => {
    const names = ["a", "b", "c"] as const;
    const node = fc.record({
      name: fc.uuid(),
      pools: fc.subarray([...names], { minLength: 1 }),
      phase: fc.constantFrom("idle", "waiting", "resuming", "taking"),
      askedMs: fc.nat(5),
    });
    const limits = fc.record({ a: fc.nat(4), b: fc.nat(4), c: fc.nat(4) });
    const holds = fc.property(fc.uniqueArray(node, { selector: ({ name }) => name }), limits, (nodes, limit) => {
      const { admitted, places } = planDrains(nodes, pools(limit));
      for (const pool of names) {
        const inPool = nodes.filter((each) => each.pools.includes(pool));
        const before = inPool.filter(({ phase }) => phase === "taking").length;
        const after = before + inPool.filter(({ name }) => admitted.includes(name)).length;
        expect(after).toBeLessThanOrEqual(Math.max(limit[pool], before));
      }
      const waits = nodes.filter(({ phase }) => phase === "waiting" || phase === "resuming").map(({ name }) => name);
      expect([...admitted, ...places.keys()].sort()).toEqual(waits.sort());
      const [first] = nodes
        .filter(({ name, pools: of }) => waits.includes(name) && of.every((pool) => limit[pool] > 0))
        .sort((x, y) => rank(x) - rank(y) || x.askedMs - y.askedMs || (x.name < y.name ? -1 : 1));
      const fits = first?.pools.every((pool) => {
        return nodes.filter((each) => each.phase === "taking" && each.pools.includes(pool)).length < limit[pool];
      });
      if (first !== undefined && fits === true) expect(admitted[0]).toBe(first.name);
    });
    fc.assert(holds);
  });
});
