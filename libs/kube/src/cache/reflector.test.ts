// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Cache } from "./cache.ts";
import { HttpTransport } from "../http/http-transport.ts";
import { isKubeError } from "../http/kube-error.ts";
import { eventually, FakeClock } from "../testing/fake-clock.ts";
import { configMaps, FakeApiServer, type ConfigMap, type SeenRequest } from "../testing/fake-api-server.ts";
import { watchObjects, type WatchOptions } from "./watch-objects.ts";

type Colors = Cache<string>;

/** Starts a server and a cache of the colors of its objects. */
async function setUp(
  options: Partial<WatchOptions<ConfigMap, string>> = {},
  before: (server: FakeApiServer) => void = () => {},
) {
  const server = await FakeApiServer.start();
  before(server);
  const clock = new FakeClock();
  const transport = new HttpTransport(server.endpoint);
  const reported: unknown[] = [];
  const cache = watchObjects({
    transport,
    type: configMaps,
    namespace: "ns",
    project: ({ data }: ConfigMap) => data?.["color"] ?? "",
    report: (error) => reported.push(isKubeError(error) ? error.code : error),
    clock,
    random: () => 1,
    ...options,
  });
  return {
    server,
    clock,
    cache,
    reported,
    lists: () => server.requests.filter((request) => isList(request)),
    watches: () => server.requests.filter((request) => !isList(request)),
    /** Waits until `holds` returns true. Ends each pause of the reflector at once, but not the wait of a silent watch. */
    async until(holds: () => boolean) {
      await eventually(async () => {
        if (clock.nextMs <= 60_000 && !holds()) await clock.advance(clock.nextMs);
        return holds();
      });
    },
    async [Symbol.asyncDispose]() {
      await cache[Symbol.asyncDispose]();
      await transport[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const isList = ({ query }: SeenRequest) => query["watch"] === undefined;

function content(cache: Colors): Record<string, string> {
  return Object.fromEntries(Array.from(cache.keys(), (key) => [key, cache.get(key) ?? ""]));
}

/** An event about the object "a", as the server sends it. */
function event(type: string, resourceVersion: string): string {
  const metadata = { name: "a", namespace: "ns", uid: "uid-a", resourceVersion };
  return `${JSON.stringify({ type, object: { apiVersion: "v1", kind: "ConfigMap", metadata } })}\n`;
}

function putMany(server: FakeApiServer, count: number): void {
  for (let index = 0; index < count; index++) server.put(`o-${index}`, { color: "red" });
}

describe("reflect", () => {
  it("lists in pages and watches from there", async () => {
    await using it = await setUp({ pageSize: 10 }, (server) => {
      putMany(server, 25);
    });
    await it.cache.whenSynced(AbortSignal.timeout(10_000));
    expect(it.cache.size).toBe(25);
    expect(it.lists().map(({ query }) => query["limit"])).toEqual(["10", "10", "10"]);
    it.server.put("o-0", { color: "blue" });
    it.server.put("new", { color: "green" });
    it.server.delete("o-1");
    await eventually(() => !it.cache.get("o-1"));
    expect([it.cache.get("o-0"), it.cache.get("new"), it.cache.size]).toEqual(["blue", "green", 25]);
    expect(it.watches()).toHaveLength(1);
  });

  it("requests bookmarks and a watch of 10 to 20 minutes with its selectors", async () => {
    await using it = await setUp({ labelSelector: "a=b", fieldSelector: "metadata.name=x" });
    await eventually(() => it.server.watching === 1);
    const [watch] = it.watches();
    expect(it.lists()[0]?.query).toMatchObject({
      labelSelector: "a=b",
      fieldSelector: "metadata.name=x",
      limit: "500",
    });
    expect(watch?.query).toMatchObject({
      labelSelector: "a=b",
      fieldSelector: "metadata.name=x",
      allowWatchBookmarks: "true",
      resourceVersion: "100",
      timeoutSeconds: "1200",
    });
  });

  it.each(["in-order", "reset", "within-object"] as const)(
    "misses no change when the watch ends (%s) and does not list again",
    async (how) => {
      await using it = await setUp();
      await eventually(() => it.server.watching === 1);
      it.server.put("a", { color: "red" });
      await eventually(() => it.cache.size === 1);
      it.server.cutWatches(how);
      it.server.put("a", { color: "blue" });
      it.server.put("b", { color: "red" });
      await it.until(() => it.cache.size === 2);
      expect(content(it.cache)).toEqual({ a: "blue", b: "red" });
      expect(it.lists()).toHaveLength(1);
      expect(it.reported).toEqual(how === "in-order" ? [] : ["ConnectionLost"]);
    },
  );

  it("continues from the last bookmark", async () => {
    await using it = await setUp();
    await eventually(() => it.server.watching === 1);
    it.server.bookmark();
    await eventually(() => it.cache.position === "101");
    it.server.compact();
    it.server.cutWatches("in-order");
    await it.until(() => it.watches().length === 2);
    expect(it.watches()[1]?.query["resourceVersion"]).toBe("101");
    expect(it.lists()).toHaveLength(1);
  });

  it("lists again after a 410 and drops deleted objects", async () => {
    await using it = await setUp({}, (server) => {
      putMany(server, 3);
    });
    await eventually(() => it.server.watching === 1);
    const changes: string[] = [];
    it.cache.subscribe(({ key, before, after }) => changes.push(`${key}: ${before ?? "-"} ${after ?? "-"}`));
    changes.length = 0;
    it.server.cutWatches("reset");
    it.server.delete("o-1");
    it.server.put("o-2", { color: "blue" });
    it.server.compact();
    await it.until(() => it.lists().length === 2 && it.server.watching === 1);
    expect(content(it.cache)).toEqual({ "o-0": "red", "o-2": "blue" });
    expect(changes.sort()).toEqual(["o-1: red -", "o-2: red blue"]);
    expect(it.reported).toEqual(["ConnectionLost"]);
  });

  it("starts a list again with growing pauses when it expires between two pages", async () => {
    await using it = await setUp({ pageSize: 2 }, (server) => {
      putMany(server, 5);
      const status = { kind: "Status", reason: "Expired", code: 410 };
      const expired = { status: 410, body: JSON.stringify(status) };
      for (let times = 0; times < 3; times++) server.failNext(expired, ({ query }) => query["continue"] !== undefined);
    });
    await it.until(() => it.cache.synced);
    expect(it.cache.size).toBe(5);
    const pages = it.lists().map(({ query }) => [query["limit"], query["continue"] === undefined ? "first" : "next"]);
    const cut = [
      ["2", "first"],
      ["2", "next"],
    ];
    expect(pages).toEqual([...cut, ...cut, ...cut, ["2", "first"], ["2", "next"], ["2", "next"]]);
    expect([it.clock.nowMs(), it.reported]).toEqual([500 + 1000 + 2000, ["Expired", "Expired", "Expired"]]);
  });

  it("is not synced and reports the error until the server responds", async () => {
    await using it = await setUp({}, (server) => {
      for (let times = 0; times < 3; times++) server.failNext({ status: 403 });
    });
    await it.until(() => it.cache.synced);
    expect(it.reported).toEqual(["Forbidden", "Forbidden", "Forbidden"]);
    expect(it.clock.nowMs()).toBe(500 + 1000 + 2000);
  });

  it("waits as long as the server requests", async () => {
    await using it = await setUp({}, (server) => {
      server.failNext({ status: 429, headers: { "retry-after": "60" } });
    });
    await it.until(() => it.cache.synced);
    expect(it.clock.nowMs()).toBe(60_000);
  });

  it("starts with short pauses again after an event", async () => {
    await using it = await setUp();
    await eventually(() => it.server.watching === 1);
    for (let times = 0; times < 8; times++) it.server.failNext({ status: 503 });
    it.server.cutWatches("reset");
    await it.until(() => it.server.watching === 1);
    it.server.put("a", { color: "red" });
    await eventually(() => it.cache.size === 1);
    const beforeMs = it.clock.nowMs();
    it.server.cutWatches("reset");
    await it.until(() => it.server.watching === 1);
    expect(beforeMs).toBeGreaterThan(60_000);
    expect(it.clock.nowMs() - beforeMs).toBe(500);
  });

  it("starts with short pauses again after a watch that lasted longer than the pause before it, also without events", async () => {
    await using it = await setUp();
    await eventually(() => it.server.watching === 1);
    for (let times = 0; times < 3; times++) it.server.failNext({ status: 503 });
    it.server.cutWatches("reset");
    await it.until(() => it.server.watching === 1);
    const pauseBeforeMs = async (lastedMs: number) => {
      await it.clock.advance(lastedMs);
      const endedMs = it.clock.nowMs();
      it.server.cutWatches("reset");
      await it.until(() => it.server.watching === 1);
      return it.clock.nowMs() - endedMs;
    };
    // The pause before this one was of 4 s.
    expect(await pauseBeforeMs(3_000)).toBe(8_000);
    expect(await pauseBeforeMs(8_000)).toBe(500);
  });

  it("pauses when the server ends each watch at once", async () => {
    await using it = await setUp();
    await eventually(() => it.server.watching === 1);
    for (let times = 0; times < 5; times++) it.server.failNext({ status: 200, body: "" });
    it.server.cutWatches("in-order");
    await it.until(() => it.server.watching === 1);
    // The watch that was ended and five more, all without events.
    expect(it.clock.nowMs()).toBe(500 + 1000 + 2000 + 4000 + 8000 + 15_000);
  });

  it("lists again after a silent watch", async () => {
    await using it = await setUp();
    await eventually(() => it.server.watching === 1);
    await it.clock.advance(149_000);
    it.server.bookmark();
    await eventually(() => it.cache.position === "101");
    await it.clock.advance(149_000);
    expect([it.lists().length, it.watches().length]).toEqual([1, 1]);
    await it.clock.advance(1000);
    await it.until(() => it.watches().length === 2);
    expect(it.lists()).toHaveLength(2);
    expect(it.watches()[1]?.query["resourceVersion"]).toBe("101");
    expect([it.reported, it.cache.rewinds]).toEqual([["Timeout"], 0]);
  });

  /** Restores a backup in which "a" is red and "b" does not exist; before, "a" is blue and "b" is green. */
  async function restore(it: Awaited<ReturnType<typeof setUp>>) {
    await eventually(() => it.server.watching === 1);
    it.server.put("a", { color: "red" });
    const restoreBackup = it.server.backUp();
    it.server.put("a", { color: "blue" });
    it.server.put("b", { color: "green" });
    await eventually(() => it.cache.get("b") === "green");
    restoreBackup();
    await it.until(() => it.server.watching === 1);
  }

  it("lists again when the server is silent after the restore of a backup, and knows that versions went back", async () => {
    await using it = await setUp();
    await restore(it);
    it.server.bookmark();
    it.server.put("c", { color: "red" }); // has the version of "b" before the restore, so the watch does not receive it
    await it.clock.advance(149_000);
    expect(content(it.cache)).toEqual({ a: "blue", b: "green" });
    await it.clock.advance(1_000);
    await it.until(() => it.cache.get("c") === "red");
    expect([content(it.cache), it.cache.rewinds]).toEqual([{ a: "red", c: "red" }, 1]);
    it.server.put("d", { color: "red" });
    await eventually(() => it.cache.get("d") === "red");
  });

  it("has the content of an object that got, after the restore of a backup, the version that it had before", async () => {
    await using it = await setUp();
    await eventually(() => it.server.watching === 1);
    it.server.put("a", { color: "red" });
    const restoreBackup = it.server.backUp();
    it.server.put("a", { color: "blue" });
    it.server.bookmark();
    await eventually(() => it.cache.position === "103");
    restoreBackup();
    const changed = it.server.put("a", { color: "green" });
    expect(changed.metadata.resourceVersion).toBe("102");
    await it.until(() => it.server.watching === 1);
    await it.clock.advance(150_000);
    await it.until(() => it.cache.rewinds === 1 && it.server.watching === 1);
    expect(content(it.cache)).toEqual({ a: "green" });
  });

  it.each([
    { does: "an event", send: (version: string) => event("ADDED", version) },
    { does: "a bookmark", send: (version: string) => event("BOOKMARK", version) },
    { does: "a deletion", send: (version: string) => event("DELETED", version) },
  ])("lists again after $does with an earlier version", async ({ send }) => {
    await using it = await setUp();
    await eventually(() => it.server.watching === 1);
    it.server.put("a", { color: "red" });
    await eventually(() => it.cache.position === "101");
    it.server.sendRaw(send("99"));
    await it.until(() => it.lists().length === 2 && it.server.watching === 1);
    expect([content(it.cache), it.cache.rewinds, it.reported]).toEqual([{ a: "red" }, 1, ["UnexpectedResponse"]]);
  });

  it("accepts versions that are no numbers, which cannot be compared", async () => {
    await using it = await setUp();
    await eventually(() => it.server.watching === 1);
    for (const version of ["x9", "x10", "0"]) it.server.sendRaw(event("BOOKMARK", version));
    await eventually(() => it.cache.position === "0");
    expect([it.lists().length, it.reported, it.cache.rewinds]).toEqual([1, [], 0]);
  });

  it("lists again at once if a writer has received an earlier version", async () => {
    await using it = await setUp();
    await eventually(() => it.server.watching === 1);
    it.cache.doubt();
    await it.until(() => it.lists().length === 2 && it.server.watching === 1);
    expect(it.cache.rewinds).toBe(1);
  });

  it("lists again after an event that it cannot read", async () => {
    await using it = await setUp();
    await eventually(() => it.server.watching === 1);
    it.server.sendRaw("{}\n");
    it.server.put("a", { color: "red" });
    await it.until(() => it.cache.size === 1);
    expect([it.lists().length, it.reported]).toEqual([2, ["UnexpectedResponse"]]);
  });

  it("accepts an object of several megabytes", async () => {
    await using it = await setUp();
    await eventually(() => it.server.watching === 1);
    it.server.put("big", { color: "x".repeat(3_000_000) });
    await eventually(() => it.cache.get("big")?.length === 3_000_000);
  });

  it("knows its age and reports it with each failure", async () => {
    const failed: unknown[] = [];
    await using it = await setUp({ report: (_, at) => failed.push({ ...at }) }, (server) => {
      server.failNext({ status: 403 });
    });
    await it.until(() => it.server.watching === 1);
    expect([it.cache.ageMs, failed]).toEqual([0, [{ resource: "configmaps", ageMs: 0 }]]);
    await it.clock.advance(20_000);
    expect(it.cache.ages).toMatchObject([{ resource: "configmaps", synced: true, ageMs: 20_000 }]);
    it.server.put("a", { color: "red" });
    await eventually(() => it.cache.ageMs === 0);
    await it.clock.advance(60_000);
    it.server.bookmark();
    await eventually(() => it.cache.ageMs === 0);

    await it.clock.advance(30_000);
    for (let times = 0; times < 3; times++) it.server.failNext({ status: 403 });
    it.server.cutWatches("in-order");
    await it.until(() => failed.length === 4);
    expect(failed.slice(1)).toEqual([30_000, 30_500, 31_500].map((ageMs) => ({ resource: "configmaps", ageMs })));
  });

  it("has the age of the last accepted watch when the server sends no bookmarks", async () => {
    await using it = await setUp();
    await eventually(() => it.server.watching === 1);
    await it.clock.advance(100_000);
    expect(it.cache.ageMs).toBe(100_000);
    await it.clock.advance(50_000);
    await eventually(() => it.cache.ageMs === 0);
    expect(it.watches()).toHaveLength(2);
  });

  it("is not confirmed by an accepted watch when the server sends bookmarks", async () => {
    await using it = await setUp();
    await eventually(() => it.server.watching === 1);
    it.server.bookmark();
    await eventually(() => it.cache.position === "101");
    await it.clock.advance(100_000);
    it.server.cutWatches("in-order");
    await eventually(() => it.watches().length === 2 && it.server.watching === 1);
    expect(it.cache.ageMs).toBe(100_000);
    it.server.bookmark();
    await eventually(() => it.cache.ageMs === 0);
  });

  it("ends when it is disposed during a watch or a pause", async () => {
    const watching = await setUp();
    await eventually(() => watching.server.watching === 1);
    await watching.cache[Symbol.asyncDispose]();
    await eventually(() => watching.server.watching === 0);
    expect(watching.clock.pending).toBe(0);
    await watching[Symbol.asyncDispose]();

    const pausing = await setUp({}, (server) => {
      server.failNext({ status: 503 });
    });
    await eventually(() => pausing.reported.length === 1);
    await pausing[Symbol.asyncDispose]();
    expect([pausing.clock.pending, pausing.lists().length]).toEqual([0, 1]);
  });

  it("has no objects of an optional kind that the server does not serve", async () => {
    const notFound = { status: 404, body: "404 page not found" };
    await using it = await setUp({ optional: true }, (server) => {
      server.put("a", { color: "red" });
      server.failNext(notFound);
      server.failNext(notFound);
    });
    await it.cache.whenSynced(AbortSignal.timeout(10_000));
    expect([it.cache.synced, it.cache.served, it.cache.position]).toEqual([true, false, undefined]);
    await it.until(() => it.cache.served);
    expect([content(it.cache), it.clock.nowMs(), it.reported]).toEqual([{ a: "red" }, 10_000, []]);
  });

  it("drops the objects of an optional kind that the server no longer serves", async () => {
    await using it = await setUp({ optional: true });
    await eventually(() => it.server.watching === 1);
    it.server.put("a", { color: "red" });
    await eventually(() => it.cache.size === 1);
    it.server.failNext({ status: 404, body: "404 page not found" });
    it.server.cutWatches("in-order");
    await it.until(() => !it.cache.served);
    expect([it.cache.synced, it.cache.size]).toEqual([true, 0]);
    await it.until(() => it.cache.served);
    expect([content(it.cache), it.lists().length, it.reported]).toEqual([{ a: "red" }, 2, []]);
  });

  it("does not know whether an optional kind has objects as long as the server refuses the list", async () => {
    await using it = await setUp({ optional: true }, (server) => {
      server.put("a", { color: "red" });
      server.failNext({ status: 403 });
    });
    await eventually(() => it.reported.length === 1);
    expect([it.reported, it.cache.synced, it.cache.served]).toEqual([["Forbidden"], false, true]);
    await it.until(() => it.cache.synced);
    expect(content(it.cache)).toEqual({ a: "red" });
  });

  it("reports a failure for a kind that is not optional", async () => {
    await using it = await setUp({}, (server) => {
      server.failNext({ status: 404, body: "404 page not found" });
    });
    await eventually(() => it.reported.length === 1);
    expect([it.reported, it.cache.synced, it.cache.served]).toEqual([["NotFound"], false, true]);
  });
});
