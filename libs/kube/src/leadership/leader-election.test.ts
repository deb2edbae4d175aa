// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { runWhenLeading } from "./leader-election.ts";
import type { Leadership } from "./leader-election-options.ts";
import { World, type Replica } from "../testing/leader-election-world.ts";

describe("runWhenLeading", () => {
  const half = () => 0.5;

  it("lets the first replica lead as long as it renews the lease", async () => {
    const world = new World(half);
    world.start("a");
    await world.clock.advance(1_000);
    world.start("b");
    await world.clock.advance(60_000);
    expect([world.leaders, world.holder, world.terms]).toEqual([["a"], "a", 1]);
  });

  it("replaces a leader that died when its lease has expired", async () => {
    const world = new World(half);
    const a = world.start("a");
    world.start("b");
    await world.clock.advance(4_000);
    a.freeze(); // forever
    await world.clock.advance(10_000);
    expect(world.leaders).toEqual([]); // the deadline of a is over, its lease has not expired
    await world.clock.advance(10_000);
    expect([world.leaders, world.holder]).toEqual([["b"], "b"]);
  });

  it("releases the lease only when the work has ended; then another replica leads at once", async () => {
    const world = new World(half);
    const a = world.start("a");
    const workEnds = Promise.withResolvers<undefined>();
    a.onWork = () => workEnds.promise;
    await world.clock.advance(1_000);
    world.start("b");
    a.end.abort();
    await world.clock.advance(30_000);
    expect([world.leaders, world.holder]).toEqual([["a"], "a"]); // still renewed

    workEnds.resolve(undefined);
    await world.clock.advance(3_000);
    await a.done;
    expect([world.leaders, world.holder]).toEqual([["b"], "b"]);
  });

  it("rejects the writes of a leader that was frozen before it notices", async () => {
    const world = new World(half);
    const a = world.start("a");
    world.start("b");
    await world.clock.advance(4_000);
    a.freeze();
    await world.clock.advance(20_000);
    await a.thaw();
    await world.clock.advance(1_000);
    expect([world.leaders, world.arrivals.at(-1)?.by]).toEqual([["b"], "b"]);
    expect(isInOrder(world.arrivals.map(({ term }) => term))).toBe(true);
  });

  it("leads again with new work after a freeze without another replica", async () => {
    const world = new World(half);
    const a = world.start("a");
    await world.clock.advance(1_000);
    a.freeze();
    await world.clock.advance(20_000);
    await a.thaw();
    expect(world.leaders).toEqual([]);
    await world.clock.advance(8_000);
    expect([world.leaders, world.terms]).toEqual([["a"], 2]);
  });

  it("takes a lost lease again only when its earlier writes must have arrived", async () => {
    const world = new World(half);
    const a = world.start("a");
    let first: Leadership | undefined;
    a.onWork = (leadership) => Promise.resolve(void (first ??= leadership));
    await world.clock.advance(1_000);
    a.lossOfAnswers = 1; // the responses to its renewals are lost
    await world.clock.advance(8_500);
    const path = "/api/v1/namespaces/ns/configmaps/work";
    a.longestDelayMs = 8_000; // 4 s until the request arrives
    const late = first?.transport.request({ method: "PATCH", path, body: { term: 1 } });
    const given = expect(late).rejects.toMatchObject({ code: "Timeout" });
    a.longestDelayMs = 100;
    while (world.leaders.length > 0) await world.clock.advance(10);
    expect(world.holder).toBe("a");
    a.lossOfAnswers = 0;
    await world.clock.advance(10_000);
    await given;
    expect([world.leaders, world.terms]).toEqual([["a"], 2]);
    expect(isInOrder(world.arrivals.map(({ term }) => term))).toBe(true);
  });

  it("keeps the lease through lost responses and through changes by others", async () => {
    const world = new World(half);
    const a = world.start("a");
    world.start("b");
    await world.clock.advance(1_000);
    a.lossOfAnswers = 1;
    await world.clock.advance(3_000); // the response to a renewal is lost
    a.lossOfAnswers = 0;
    world.changeLease({ touched: 1 });
    await world.clock.advance(30_000);
    expect([world.leaders, world.terms]).toEqual([["a"], 1]);
  });

  it("stops at once when the Lease was taken or deleted by hand", async () => {
    const world = new World(half);
    const a = world.start("a");
    let ended: Leadership | undefined;
    a.onWork = (leadership) => Promise.resolve(void (ended ??= leadership));
    await world.clock.advance(1_000);
    world.changeLease({ spec: { holderIdentity: "someone", leaseDurationSeconds: 3600 } });
    await world.clock.advance(3_000);
    expect([world.leaders, ended?.signal.aborted, ended?.signal.reason]).toEqual([
      [],
      true,
      expect.objectContaining({ code: "NotLeading" }),
    ]);

    world.lease = undefined;
    await world.clock.advance(3_000_000);
    expect(world.leaders).toEqual([]); // the last holder had the lease for an hour
    await world.clock.advance(700_000);
    expect(world.leaders).toEqual(["a"]);
  });

  it("counts the deadline from before a renewal was sent, however late the response is", async () => {
    const world = new World(half);
    const a = world.start("a");
    await world.clock.advance(2_150); // the first renewal is sent at 2,200
    a.longestDelayMs = 4_000; // 2 s for the request, 2 s for the response
    await world.clock.advance(5_000);
    a.lossOfRequests = 1;
    await world.clock.advance(5_000);
    expect(world.leaders).toEqual(["a"]);
    await world.clock.advance(100);
    expect(world.leaders).toEqual([]);
  });

  it("counts the first deadline from before the lease was requested", async () => {
    const world = new World(half);
    const a = world.start("a");
    a.longestDelayMs = 4_000;
    await world.clock.advance(6_100); // it requested the lease at 2,050 and had it at 6,050
    a.lossOfRequests = 1;
    await world.clock.advance(5_900);
    expect(world.leaders).toEqual(["a"]);
    await world.clock.advance(100);
    expect(world.leaders).toEqual([]);
  });

  it("notices in the leader and in the waiting replica that a backup was restored, once, and not before", async () => {
    const world = new World(half);
    const [a, b] = [world.start("a"), world.start("b")];
    await world.clock.advance(10_000);
    const backup = { lease: structuredClone(world.lease ?? {}), version: world.version };
    await world.clock.advance(60_000);
    expect([a.rewinds, b.rewinds]).toEqual([0, 0]);
    world.restore(backup.lease, backup.version);
    await world.clock.advance(5_000);
    expect([a.rewinds, b.rewinds, world.leaders]).toEqual([1, 1, ["a"]]);
    await world.clock.advance(60_000);
    expect([a.rewinds, b.rewinds]).toEqual([1, 1]);
  });

  it("rejects with the error of the work after it has released the lease", async () => {
    const world = new World(half);
    const a = world.start("a");
    a.onWork = () => Promise.reject(new Error("a bug"));
    const done = expect(a.done).rejects.toThrow("a bug");
    await world.clock.advance(1_000);
    a.end.abort();
    await world.clock.advance(1_000);
    await done;
    expect(world.holder).toBe("");
  });

  it.each([
    { does: "an empty identity", wrong: { identity: "" } },
    {
      does: "a lease duration with a fraction of a second",
      wrong: { timings: { leaseDurationMs: 1_500, renewDeadlineMs: 1_000, retryMs: 200 } },
    },
    {
      does: "timings without a margin",
      wrong: { timings: { leaseDurationMs: 10_000, renewDeadlineMs: 9_000, retryMs: 2_000 } },
    },
    {
      does: "a deadline with room for one retry only",
      wrong: { timings: { leaseDurationMs: 15_000, renewDeadlineMs: 3_000, retryMs: 2_000 } },
    },
  ])("refuses $does", async ({ wrong }) => {
    const { signal } = new AbortController();
    const transport = { namespace: "", request: never, watch: never, [Symbol.asyncDispose]: never };
    const lease = { namespace: "ns", name: "x" };
    const options = { transport, lease, identity: "a", signal, onLeading: never, report: never, ...wrong };
    await expect(runWhenLeading(options)).rejects.toBeInstanceOf(RangeError);
  });

  it("never has two leaders and always has one in the end", async () => {
    const fault = fc.record({
      afterMs: fc.integer({ min: 100, max: 9_000 }),
      replica: fc.nat(2),
      kind: fc.constantFrom("freeze", "thaw", "lose requests", "lose answers", "delay", "heal", "end", "touch"),
    });
    const paces = fc.tuple(...["a", "b", "c"].map(() => fc.double({ min: 0.98, max: 1.02, noNaN: true })));
    const random = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }));

    const holds = fc.asyncProperty(paces, fc.array(fault, { maxLength: 25 }), random, async (pace, faults, numbers) => {
      const world = new World(() => Number(numbers.next().value));
      const replicas = ["a", "b", "c"].map((identity, index) => world.start(identity, pace[index]));
      for (const { afterMs, replica, kind } of faults) {
        await step(world, afterMs);
        const target = replicas[replica];
        if (target !== undefined) await inject(world, target, kind);
      }
      expect(isInOrder(world.arrivals.map(({ term }) => term))).toBe(true);

      for (const replica of replicas) await inject(world, replica, "heal");
      for (const replica of replicas) await inject(world, replica, "thaw");
      world.start("d");
      await step(world, 40_000);
      expect(world.leaders).toHaveLength(1);
      expect(isInOrder(world.arrivals.map(({ term }) => term))).toBe(true);
      for (const { end } of world.replicas) end.abort();
      await world.clock.advance(40_000);
      await Promise.all(world.replicas.map(({ done }) => done));
      expect(world.holder).toBe("");
    });
    await fc.assert(holds, { numRuns: 60 });
  }, 120_000);
});

/** Advances the time and checks that there are never two leaders. */
async function step(world: World, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    await world.clock.advance(Math.min(250, ms - passed));
    expect(world.leaders.length).toBeLessThanOrEqual(1);
  }
}

async function inject(world: World, replica: Replica, kind: string): Promise<void> {
  if (kind === "freeze") replica.freeze();
  if (kind === "thaw") await replica.thaw();
  if (kind === "lose requests") replica.lossOfRequests = 0.7;
  if (kind === "lose answers") replica.lossOfAnswers = 0.7;
  if (kind === "delay") replica.longestDelayMs = 4_000;
  if (kind === "heal") Object.assign(replica, { lossOfRequests: 0, lossOfAnswers: 0, longestDelayMs: 100 });
  if (kind === "end") replica.end.abort();
  if (kind === "touch") world.changeLease({ touched: world.clock.nowMs() });
}

/** Reports whether no leader wrote after a later leader. */
function isInOrder(terms: readonly number[]): boolean {
  return terms.every((term, index) => term >= (terms[index - 1] ?? 0));
}

function never(): never {
  throw new TypeError("unexpected call");
}
