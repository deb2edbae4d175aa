// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { FakeClock, settleCallbacks } from "../testing/fake-clock.ts";
import { WorkQueue, type WorkQueueOptions } from "./work-queue.ts";

function createQueue(options: Partial<WorkQueueOptions> = {}) {
  const clock = new FakeClock();
  const backoff = { baseMs: 100, maxMs: 1000 };
  const queue = new WorkQueue({ clock, random: () => 1, debounceMs: 0, maxDebounceMs: 0, backoff, ...options });
  return { clock, queue };
}

/** Takes all ready keys. */
async function drain(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.depth > 0) {
    const key = await queue.take();
    if (key === undefined) break;
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

describe("WorkQueue", () => {
  it("returns keys in the order of their first addition, each once", async () => {
    const { queue } = createQueue();
    for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
    expect(await drain(queue)).toEqual(["a", "b", "c"]);
  });

  it("resolves a pending take", async () => {
    const { queue } = createQueue();
    const taken = queue.take();
    queue.add("a");
    expect(await taken).toBe("a");
    expect(queue.depth).toBe(0);
  });

  it("returns a key once more if it was added while it was processed", async () => {
    const { queue } = createQueue();
    queue.add("a");
    await queue.take();
    queue.add("a");
    queue.add("a");
    expect(queue.depth).toBe(0);
    queue.done("a");
    expect(await drain(queue)).toEqual(["a"]);
  });

  it("resolves whenAllTaken without ready keys, after the last is taken, and on disposal", async () => {
    const { queue } = createQueue();
    const seen: string[] = [];
    const noteWhenTaken = (what: string) => queue.whenAllTaken().then(() => seen.push(what));
    await noteWhenTaken("empty");
    queue.add("a");
    queue.add("b");
    const taken = noteWhenTaken("taken");
    await queue.take();
    await settleCallbacks();
    expect(seen).toEqual(["empty"]);
    await queue.take();
    await taken;
    queue.add("c");
    const closed = noteWhenTaken("closed");
    queue[Symbol.dispose]();
    await closed;
    expect(seen).toEqual(["empty", "taken", "closed"]);
  });

  it("debounces a key, at most for maxDebounceMs", async () => {
    const { clock, queue } = createQueue({ debounceMs: 100, maxDebounceMs: 250 });
    queue.add("a");
    await clock.advance(99);
    queue.add("a");
    await clock.advance(99);
    queue.add("a");
    expect(queue.depth).toBe(0);
    await clock.advance(51);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(await drain(queue)).toEqual(["a"]);
    expect(clock.pending).toBe(0);
  });

  it("uses the earlier of two times in any order", async () => {
    const { clock, queue } = createQueue({ debounceMs: 10, maxDebounceMs: 10 });
    queue.addAfter("a", 500);
    queue.addAfter("a", 100);
    queue.addAfter("b", 100);
    queue.addAfter("b", 500);
    queue.addAfter("c", 500);
    queue.add("c");
    await clock.advance(10);
    expect(await drain(queue)).toEqual(["c"]);
    await clock.advance(90);
    expect(await drain(queue)).toEqual(["a", "b"]);
    await clock.advance(1000);
    expect(queue.depth).toBe(0);
  });

  it("drops later times when a key becomes ready", async () => {
    const { clock, queue } = createQueue();
    queue.add("a");
    await queue.take();
    queue.add("a");
    queue.retry("a");
    queue.done("a");
    await queue.take();
    expect(queue.waiting).toBe(0);
    await clock.advance(500);
    queue.done("a");
    expect(queue.depth).toBe(0);
  });

  it("backs off longer with each failure until forget", async () => {
    const { clock, queue } = createQueue();
    for (const waitMs of [100, 200, 400, 800, 1000, 1000]) {
      queue.retry("a");
      await clock.advance(waitMs - 1);
      expect(queue.depth).toBe(0);
      await clock.advance(1);
      expect(await drain(queue)).toEqual(["a"]);
    }
    queue.forget("a");
    expect(queue.retry("a")).toBe(1);
    await clock.advance(100);
    expect(queue.depth).toBe(1);
  });

  it("waits at least as long as the server requests", async () => {
    const { clock, queue } = createQueue();
    queue.retry("a", 5000);
    await clock.advance(4999);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
  });

  it("reports how long a key was ready", async () => {
    const latencies: number[] = [];
    const { clock, queue } = createQueue({ onTaken: (latencyMs) => latencies.push(latencyMs) });
    queue.addAfter("a", 30);
    await clock.advance(50);
    await queue.take();
    expect(latencies).toEqual([20]);
  });

  it("resolves pending takes with undefined on disposal and keeps no timer", async () => {
    const { clock, queue } = createQueue();
    const waiting = queue.take();
    queue.addAfter("a", 100);
    queue[Symbol.dispose]();
    queue.add("b");
    expect([await waiting, await queue.take()]).toEqual([undefined, undefined]);
    expect(clock.pending).toBe(0);
  });

  it("returns each key after its last addition and never twice at a time, for any sequence of calls", async () => {
    const keys = fc.constantFrom("a", "b", "c");
    const steps = fc.array(
      fc.oneof(
        fc.record({ do: fc.constant("add" as const), key: keys }),
        fc.record({ do: fc.constant("addAfter" as const), key: keys, ms: fc.nat(300) }),
        fc.record({ do: fc.constant("retry" as const), key: keys }),
        fc.record({ do: fc.constant("take" as const) }),
        fc.record({ do: fc.constant("done" as const), key: keys }),
        fc.record({ do: fc.constant("advance" as const), ms: fc.nat(150) }),
      ),
      { maxLength: 40 },
    );
    const holds = fc.asyncProperty(steps, async (todo) => {
      const { clock, queue } = createQueue({ debounceMs: 50, maxDebounceMs: 120 });
      const wanted = new Set<string>();
      const working = new Set<string>();
      const take = async () => {
        const key = (await queue.take()) ?? "";
        expect(working).not.toContain(key);
        working.add(key);
        wanted.delete(key);
      };
      for (const step of todo) {
        if (step.do === "advance") await clock.advance(step.ms);
        else if (step.do === "take") {
          if (queue.depth > 0) await take();
        } else if (step.do === "done") {
          if (working.delete(step.key)) queue.done(step.key);
        } else {
          wanted.add(step.key);
          if (step.do === "add") queue.add(step.key);
          if (step.do === "addAfter") queue.addAfter(step.key, step.ms);
          if (step.do === "retry") queue.retry(step.key);
        }
      }
      for (const key of working) queue.done(key);
      working.clear();
      await clock.advance(2000);
      while (queue.depth > 0) await take();
      expect([...wanted]).toEqual([]);
    });
    await fc.assert(holds, { numRuns: 100 });
  });
});
