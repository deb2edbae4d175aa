// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import {
  fromCache,
  startController,
  type ControllerOptions,
  type FailedReconcile,
  type Reconcile,
  type Source,
} from "./controller.ts";
import type { HasAge, CacheAge } from "../cache/cache-age.ts";
import { isKubeError, KubeError } from "../http/kube-error.ts";
import { ObjectStore } from "../cache/object-store.ts";
import { configMaps, type ConfigMap } from "../testing/fake-api-server.ts";
import { eventually, FakeClock, settleCallbacks } from "../testing/fake-clock.ts";

/** A source that a test controls. */
class Keys implements Source {
  readonly #synced = Promise.withResolvers<undefined>();
  add: (key: string) => void = () => {};
  stopped = false;

  start(enqueue: (key: string) => void): () => void {
    this.add = enqueue;
    return () => {
      this.stopped = true;
    };
  }

  sync(): this {
    this.#synced.resolve(undefined);
    return this;
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => {
        reject(new Error("stopped"));
      });
    });
    await Promise.race([this.#synced.promise, aborted]);
  }
}

/** A cache with an age that a test sets. */
class Age implements HasAge {
  ageMs = 0;

  get ages(): readonly CacheAge[] {
    return [{ resource: "nodes", synced: true, ageMs: this.ageMs }];
  }
}

function start(reconcile: Reconcile, options: Partial<ControllerOptions> = {}) {
  const clock = new FakeClock();
  const keys = new Keys();
  const reported: (FailedReconcile & { readonly error: unknown })[] = [];
  const outcomes: string[] = [];
  const stop = new AbortController();
  const controller = startController({
    name: "test",
    reconcile,
    sources: [keys],
    signal: stop.signal,
    clock,
    random: () => 1,
    backoff: { baseMs: 1000, maxMs: 60_000 },
    report: (error, at) => reported.push({ ...at, error }),
    metrics: { reconciled: ({ outcome }) => outcomes.push(outcome), waited: () => {} },
    ...options,
  });
  return { clock, keys, reported, outcomes, stop, controller };
}

/** Work that runs until a test ends it. */
function createSlowWork() {
  const running = new Map<string, { readonly end: () => void; readonly signal: AbortSignal }>();
  let most = 0;
  const reconcile: Reconcile = async (key, signal) => {
    await new Promise<void>((end) => {
      running.set(key, { end, signal });
      most = Math.max(most, running.size);
    });
    running.delete(key);
    return undefined;
  };
  return { reconcile, running, most: () => most };
}

describe("startController", () => {
  it("starts when all sources and caches are synced", async () => {
    const worked: string[] = [];
    const other = new Keys();
    const { clock, keys } = start((key) => Promise.resolve(void worked.push(key)), { caches: [other] });
    keys.add("a");
    keys.sync();
    await clock.advance(1000);
    expect(worked).toEqual([]);
    other.sync();
    await clock.advance(0);
    expect(worked).toEqual(["a"]);
  });

  it("lets keys wait while a cache is stale and reconciles them when all caches are fresh", async () => {
    const worked: string[] = [];
    const [own, other] = [new Age(), new Age()];
    const stale: unknown[] = [];
    const freshness = { caches: [own, other], maxAgeMs: 300_000, onStale: (ages: unknown) => stale.push(ages) };
    const { clock, keys } = start((key) => Promise.resolve(void worked.push(key)), { freshness });
    keys.add("a");
    keys.sync();
    await clock.advance(1000);
    other.ageMs = 300_001;
    for (const key of ["b", "c"]) keys.add(key);
    await clock.advance(3_600_000);
    expect([worked, stale]).toEqual([["a"], [[{ resource: "nodes", synced: true, ageMs: 300_001 }]]]);
    own.ageMs = 400_000;
    other.ageMs = 0;
    await clock.advance(10_000);
    expect(worked).toEqual(["a"]);
    own.ageMs = 0;
    await clock.advance(1000);
    expect(worked.toSorted()).toEqual(["a", "b", "c"]);
  });

  it("ends while it waits for a stale cache and reconciles nothing more", async () => {
    const worked: string[] = [];
    const cache = new Age();
    const freshness = { caches: [cache], maxAgeMs: 300_000, onStale: () => undefined };
    const { clock, keys, controller } = start((key) => Promise.resolve(void worked.push(key)), { freshness });
    cache.ageMs = Infinity;
    keys.add("a");
    keys.sync();
    await clock.advance(1000);
    await controller[Symbol.asyncDispose]();
    cache.ageMs = 0;
    await clock.advance(10_000);
    expect([worked, clock.pending]).toEqual([[], 0]);
  });

  it("reconciles keys of the start at once and later keys after the debounce time", async () => {
    const at: (readonly [string, number])[] = [];
    const { clock, keys } = start((key) => {
      at.push([key, clock.nowMs()]);
      return Promise.resolve(undefined);
    });
    keys.add("early");
    keys.add("early");
    keys.sync();
    await clock.advance(0);
    keys.add("late");
    await clock.advance(1000);
    expect(at).toEqual([
      ["early", 0],
      ["late", 100],
    ]);
  });

  it("reconciles at most `parallel` keys at a time, and no key twice at a time", async () => {
    const { reconcile, running, most } = createSlowWork();
    const { clock, keys, controller } = start(reconcile, { parallel: 2 });
    keys.sync();
    for (const key of ["a", "b", "c"]) keys.add(key);
    await clock.advance(1000);
    keys.add("a");
    await clock.advance(1000);
    expect([...running.keys()]).toEqual(["a", "b"]);
    expect(controller.depth).toBe(1);
    while (running.size > 0) {
      running.get([...running.keys()][0] ?? "")?.end();
      await settleCallbacks();
    }
    expect(most()).toBe(2);
  });

  it("is idle when it has started and no ready key waits", async () => {
    const { reconcile, running } = createSlowWork();
    const { clock, keys, controller } = start(reconcile, { parallel: 1 });
    let isIdle = false;
    void controller.whenIdle().then(() => (isIdle = true));
    keys.add("a");
    keys.add("b");
    await clock.advance(1000);
    expect(isIdle).toBe(false); // not started
    keys.sync();
    await clock.advance(1000);
    expect(isIdle).toBe(false);
    running.get("a")?.end();
    await settleCallbacks();
    expect(isIdle).toBe(true);
    running.get("b")?.end();
  });

  it("requeues a key after the time that reconcile returns, unless the key is added earlier", async () => {
    const at: number[] = [];
    const { clock, keys, outcomes } = start(() => {
      at.push(clock.nowMs());
      return Promise.resolve(at.length < 3 ? { afterMs: 5000 } : undefined);
    });
    keys.sync().add("a");
    await clock.advance(100);
    await clock.advance(900);
    keys.add("a");
    await clock.advance(60_000);
    expect(at).toEqual([0, 1100, 6100]);
    expect(outcomes).toEqual(["requeued", "requeued", "done"]);
  });

  it("reports each failure once and retries with a growing back-off until success", async () => {
    const at: number[] = [];
    const { clock, keys, reported, outcomes } = start(() => {
      at.push(clock.nowMs());
      return at.length < 4 ? Promise.reject(new Error(`no ${at.length}`)) : Promise.resolve(undefined);
    });
    keys.sync().add("a");
    await clock.advance(60_000);
    expect(at).toEqual([0, 1000, 3000, 7000]);
    expect(reported.map(({ key, failures }) => [key, failures])).toEqual([
      ["a", 1],
      ["a", 2],
      ["a", 3],
    ]);
    expect(outcomes).toEqual(["failed", "failed", "failed", "done"]);
  });

  it("tells the first time that the API server gives an answer from its repetitions, until a success", async () => {
    const refused = (words: string) => new KubeError("PATCH /x", "Invalid", { status: 422, words });
    const answers = [
      ...[refused("no a"), refused("no a"), refused("no b"), refused("no a"), undefined, refused("no a")],
      ...[new KubeError("PATCH /x", "ConnectionLost"), new KubeError("PATCH /x", "ConnectionLost"), refused("no a")],
    ];
    const { clock, keys, reported } = start(() => {
      const answer = answers.shift();
      return answer === undefined ? Promise.resolve({ afterMs: 1_000 }) : Promise.reject(answer);
    });
    keys.sync().add("a");
    await clock.advance(120_000);
    expect(reported.map(({ error, isKnown }) => [isKubeError(error) && error.message, isKnown])).toEqual([
      ["PATCH /x: Invalid (no a)", false],
      ["PATCH /x: Invalid (no a)", true],
      ["PATCH /x: Invalid (no b)", false],
      ["PATCH /x: Invalid (no a)", true],
      ["PATCH /x: Invalid (no a)", false],
      ["PATCH /x: ConnectionLost", false],
      ["PATCH /x: ConnectionLost", false],
      ["PATCH /x: Invalid (no a)", true],
    ]);
  });

  it("starts with a short back-off again after a success", async () => {
    const at: number[] = [];
    const { clock, keys, reported } = start(() => {
      at.push(clock.nowMs());
      return at.length === 3 ? Promise.resolve({ afterMs: 10_000 }) : Promise.reject(new Error("no"));
    });
    keys.sync().add("a");
    await clock.advance(14_100);
    expect(at).toEqual([0, 1000, 3000, 13_000, 14_000]);
    expect(reported.map(({ failures }) => failures)).toEqual([1, 2, 1, 2]);
  });

  it("waits as long as the server requests", async () => {
    const at: number[] = [];
    const { clock, keys } = start(() => {
      at.push(clock.nowMs());
      const busy = new KubeError("PATCH /a", "TooManyRequests", { status: 429, retryAfterMs: 30_000 });
      return at.length === 1 ? Promise.reject(busy) : Promise.resolve(undefined);
    });
    keys.sync().add("a");
    await clock.advance(60_000);
    expect(at).toEqual([0, 30_000]);
  });

  it("reconciles other keys while one fails", async () => {
    const worked: string[] = [];
    const { clock, keys } = start(
      (key) => {
        worked.push(key);
        return key === "bad" ? Promise.reject(new Error("no")) : Promise.resolve(undefined);
      },
      { parallel: 1 },
    );
    keys.sync();
    for (const key of ["bad", "a", "b"]) keys.add(key);
    await clock.advance(100);
    expect(worked).toEqual(["bad", "a", "b"]);
  });

  it("aborts a reconcile at the deadline and reports a failure", async () => {
    const { clock, keys, reported } = start(
      (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            reject(signal.reason as Error);
          });
        }),
      { deadlineMs: 5000 },
    );
    keys.sync().add("a");
    await clock.advance(5100);
    expect(reported).toMatchObject([{ key: "a", error: { code: "Timeout" } }]);
  });

  it("finishes running reconciles when it is disposed and starts no more", async () => {
    const { reconcile, running } = createSlowWork();
    const { clock, keys, controller } = start(reconcile, { parallel: 1 });
    keys.sync().add("a");
    keys.add("b");
    await clock.advance(100);
    let ended = false;
    const disposed = controller[Symbol.asyncDispose]().then(() => (ended = true));
    await settleCallbacks();
    expect([running.get("a")?.signal.aborted, ended, keys.stopped]).toEqual([false, false, true]);
    running.get("a")?.end();
    await disposed;
    expect(running.size).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it("aborts running reconciles a time limit after it is disposed", async () => {
    const { reconcile, running } = createSlowWork();
    const { clock, keys, controller } = start(reconcile, { drainMs: 3000 });
    keys.sync().add("a");
    await clock.advance(100);
    const work = running.get("a");
    const disposed = controller[Symbol.asyncDispose]();
    await clock.advance(2999);
    expect(work?.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(work?.signal.reason).toMatchObject({ code: "Timeout" });
    work?.end();
    await disposed;
  });

  it("aborts running reconciles when its signal aborts and reports no failure", async () => {
    const stopped = new Error("the lease is lost");
    const { clock, keys, stop, reported, outcomes } = start(
      (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            reject(signal.reason as Error);
          });
        }),
    );
    keys.sync().add("a");
    await clock.advance(100);
    stop.abort(stopped);
    await eventually(() => outcomes.length > 0);
    keys.add("b");
    await clock.advance(10_000);
    expect([outcomes, reported]).toEqual([["stopped"], []]);
  });

  it("can be disposed before it is synced and be started after its signal has aborted", async () => {
    const { controller } = start(() => Promise.resolve(undefined));
    await controller[Symbol.asyncDispose]();
    const late = start(() => Promise.resolve(undefined), { signal: AbortSignal.abort() });
    await late.controller[Symbol.asyncDispose]();
    expect(late.keys.stopped).toBe(true);
  });
});

describe("fromCache", () => {
  it("passes the keys of each change, those of existing objects first", async () => {
    const cache = new ObjectStore({ type: configMaps, namespace: "ns", project: (some: ConfigMap) => some.data });
    const put = (name: string, resourceVersion: string, color: string) => {
      const metadata = { name, namespace: "ns", uid: name, resourceVersion };
      cache.upsert({ apiVersion: "v1", kind: "ConfigMap", metadata, ...{ data: { color } } });
    };
    put("a", "1", "red");
    const keys: string[] = [];
    const source = fromCache(cache, ({ before, after }) => [before?.["color"] ?? "-", after?.["color"] ?? "-"]);
    const stop = source.start((key) => keys.push(key));
    put("a", "2", "blue");
    cache.remove({ name: "a", namespace: "ns" });
    stop();
    put("b", "3", "green");
    cache.endList("3");
    await source.whenSynced(AbortSignal.timeout(1000));
    expect(keys).toEqual(["-", "red", "red", "blue", "blue", "-"]);
  });
});
