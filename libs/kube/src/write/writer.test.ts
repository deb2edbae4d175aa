// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createWriter } from "./writer.ts";
import { HttpTransport } from "../http/http-transport.ts";
import type { KubeObject } from "../kube-object.ts";
import { ObjectStore } from "../cache/object-store.ts";
import { configMaps, FakeApiServer, type ConfigMap } from "../testing/fake-api-server.ts";

const manager = "test-manager";

/** A server, a writer, and a cache that a test updates by hear(). */
async function setUp() {
  const server = await FakeApiServer.start();
  const transport = new HttpTransport(server.endpoint);
  const cache = new ObjectStore({ type: configMaps, namespace: "ns", managers: [manager], project: () => null });
  cache.beginList();
  cache.endList("100");
  const writer = createWriter<ConfigMap>({ transport, type: configMaps, manager, namespace: "ns", cache });
  return {
    server,
    cache,
    writer,
    /** Requests to the server since the last call. */
    requests: () =>
      server.requests.splice(0).map(({ method, path }) => `${method} ${path.split("/").slice(6).join("/")}`),
    /** Puts the server's object into the cache, with `data` owned by the manager. */
    hear(name: string, ownData?: Readonly<Record<string, string>>) {
      const object = server.get(name);
      if (object === undefined) throw new TypeError(name);
      cache.upsert(owning({ ...object, ...(ownData && { data: ownData }) }));
      cache.advance(object.metadata.resourceVersion ?? "");
    },
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Returns the object as it is after the manager has applied all its data. */
function owning(object: ConfigMap): KubeObject {
  const fields = Object.fromEntries(Object.keys(object.data ?? {}).map((name) => [`f:${name}`, {}]));
  const entry = { manager, operation: "Apply", fieldsV1: { "f:data": fields } };
  return { ...object, metadata: { ...object.metadata, managedFields: [entry] } };
}

const red = { metadata: { name: "a" }, data: { color: "red" } };
const blue = { metadata: { name: "a" }, data: { color: "blue" } };

describe("Writer.apply", () => {
  it("applies by force under its manager and requests only metadata in the response", async () => {
    await using it = await setUp();
    const metadata = { name: "a", labels: { x: "y" }, resourceVersion: "7", generation: 3, creationTimestamp: "then" };
    const whole = { apiVersion: "wrong", kind: "Wrong", metadata, data: { color: "red" }, status: { left: "out" } };
    expect(await it.writer.apply(whole)).toBe("written");
    expect(it.server.requests).toMatchObject([
      {
        method: "PATCH",
        path: "/api/v1/namespaces/ns/configmaps/a",
        query: { fieldManager: manager, force: "true" },
        headers: {
          "content-type": "application/apply-patch+yaml",
          accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        },
      },
    ]);
    expect(it.server.requests[0]?.body).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", namespace: "ns", labels: { x: "y" } },
      data: { color: "red" },
    });
  });

  it("sends nothing when the object has the intent, also right after a start", async () => {
    await using it = await setUp();
    it.server.put("a", { color: "red" });
    it.hear("a");
    expect(await it.writer.apply(red)).toBe("unchanged");
    expect(it.requests()).toEqual([]);
  });

  it("does not send an intent twice while the cache has not seen the first write", async () => {
    await using it = await setUp();
    expect([await it.writer.apply(red), await it.writer.apply(red)]).toEqual(["written", "unchanged"]);
    it.server.put("other", {});
    expect([await it.writer.apply(blue), await it.writer.apply(blue)]).toEqual(["written", "unchanged"]);
    it.hear("a");
    expect([await it.writer.apply(blue), await it.writer.apply(red)]).toEqual(["unchanged", "written"]);
    expect(it.requests()).toEqual(["PATCH a", "PATCH a", "PATCH a"]);
  });

  it("restores its fields when others change them", async () => {
    await using it = await setUp();
    await it.writer.apply(red);
    it.hear("a");
    it.server.put("a", { color: "green" });
    it.hear("a");
    expect(await it.writer.apply(red)).toBe("written");
    expect(it.server.get("a")?.data).toEqual({ color: "red" });
  });

  it("creates a deleted object again although the cache saw neither its creation nor its deletion", async () => {
    await using it = await setUp();
    await it.writer.apply(red);
    it.server.delete("a");
    expect(await it.writer.apply(red)).toBe("unchanged");
    it.cache.advance("102");
    expect(await it.writer.apply(red)).toBe("written");
    expect(it.server.get("a")?.data).toEqual({ color: "red" });
  });

  it("sends an intent again that the restore of a backup has undone, as soon as the cache knows of it", async () => {
    await using it = await setUp();
    const restoreBackup = it.server.backUp();
    it.server.put("other", {});
    it.server.put("other", { color: "red" });
    await it.writer.apply(red);
    restoreBackup();
    expect(await it.writer.apply(red)).toBe("unchanged"); // the cache may not have seen the write yet
    it.cache.beginList();
    it.cache.rewind();
    it.cache.endList("100");
    expect(await it.writer.apply(red)).toBe("written");
    expect(it.server.get("a")?.data).toEqual({ color: "red" });
  });

  it("doubts the cache if an object gets an earlier version than it had, and forgets all intents", async () => {
    await using it = await setUp();
    let doubts = 0;
    it.cache.onDoubt(() => doubts++);
    const restoreBackup = it.server.backUp();
    for (const name of ["a", "b"]) {
      await it.writer.apply({ metadata: { name }, data: { color: "red" } });
      it.hear(name);
    }
    it.server.put("a", { color: "green" });
    it.hear("a");
    expect([await it.writer.apply(blue), doubts]).toEqual(["written", 0]);
    restoreBackup();
    expect([await it.writer.apply(red), doubts]).toEqual(["written", 1]);
    expect(it.server.get("a")?.data).toEqual({ color: "red" });
  });

  it("accepts the form in which the server stored the intent", async () => {
    await using it = await setUp();
    await it.writer.apply(red);
    it.hear("a", { color: "RED" });
    expect(await it.writer.apply(red)).toBe("unchanged");
    it.server.put("a", { color: "red" });
    it.hear("a", { color: "RED" }); // something else in the object has changed
    expect(await it.writer.apply(red)).toBe("unchanged");
    it.server.put("a", { color: "green" });
    it.hear("a");
    expect(await it.writer.apply(red)).toBe("written");
  });

  it("remembers that form as long as the object exists, however many other objects are created and deleted", async () => {
    await using it = await setUp();
    for (const name of ["a", "b"]) {
      await it.writer.apply({ ...red, metadata: { name } });
      it.hear(name, { color: "RED" });
      await it.writer.apply({ ...red, metadata: { name } });
    }
    it.cache.remove({ name: "b", namespace: "ns" });
    for (let other = 0; other < 300; other++) {
      const name = `other-${other}`;
      await it.writer.apply({ metadata: { name }, data: {} });
      it.hear(name);
      it.cache.remove({ name, namespace: "ns" });
    }
    it.requests();
    it.hear("b", { color: "RED" });
    await it.writer.apply(red);
    await it.writer.apply({ ...red, metadata: { name: "b" } });
    expect(it.requests()).toEqual(["PATCH b"]);
  });

  it("returns unchanged when the server changes nothing", async () => {
    await using it = await setUp();
    const stored = it.server.put("a", { color: "red" });
    it.hear("a", { color: "RED" }); // the server's form
    it.server.failNext({ status: 200, body: JSON.stringify(stored) });
    expect([await it.writer.apply(red), await it.writer.apply(red)]).toEqual(["unchanged", "unchanged"]);
    expect(it.requests()).toEqual(["PATCH a"]);
  });

  it("reads the object first when there is no cache", async () => {
    await using it = await setUp();
    await using transport = new HttpTransport(it.server.endpoint);
    const writer = createWriter<ConfigMap>({ transport, type: configMaps, manager });
    const intent = { ...red, metadata: { name: "a", namespace: "ns" } };
    expect(await writer.apply(intent)).toBe("written");
    expect(it.requests()).toEqual(["GET a", "PATCH a"]);
    const body = JSON.stringify(owning(it.server.put("a", { color: "red" })));
    it.server.failNext({ status: 200, body });
    expect(await writer.apply(intent)).toBe("unchanged");
    expect(it.requests()).toEqual(["GET a"]);
  });

  it("rejects with Conflict for an object with another uid", async () => {
    await using it = await setUp();
    it.server.put("a", { color: "red" });
    const intent = { ...blue, metadata: { name: "a", uid: "of a deleted object" } };
    await expect(it.writer.apply(intent)).rejects.toMatchObject({ code: "Conflict" });
    expect(it.server.get("a")?.data).toEqual({ color: "red" });
  });

  it("empties a map in two steps when the server rejects one", async () => {
    await using it = await setUp();
    it.server.failNext({ status: 422 });
    expect(await it.writer.apply({ metadata: { name: "a" }, data: {} })).toBe("written");
    const [first, lean, last] = it.server.requests.map(({ body }) => body);
    expect([first, last]).toEqual([last, expect.objectContaining({ data: {} })]);
    expect(lean).not.toHaveProperty("data");
  });

  it("rejects with Invalid when the intent has no empty map", async () => {
    await using it = await setUp();
    it.server.failNext({ status: 422 });
    await expect(it.writer.apply(red)).rejects.toMatchObject({ code: "Invalid" });
    expect(it.requests()).toEqual(["PATCH a"]);
  });

  it("does not force when force is false", async () => {
    await using it = await setUp();
    await it.writer.apply(red, undefined, { force: false });
    await it.writer.apply(blue);
    expect(it.server.requests.map(({ query }) => query["force"])).toEqual(["false", "true"]);
  });

  it("writes an object only in the version that was seen or that this writer has written since", async () => {
    await using it = await setUp();
    await it.writer.apply(red);
    it.hear("a", red.data);
    const seenVersion = it.server.get("a")?.metadata.resourceVersion ?? "";
    const write = (color: string) => it.writer.apply({ ...red, data: { color } }, undefined, { seenVersion });
    expect(await write("blue")).toBe("written");
    expect(await write("green")).toBe("written"); // seenVersion is older than the writer's last write
    it.server.put("a", { color: "yellow" });
    await expect(write("black")).rejects.toMatchObject({ code: "Conflict" });
    expect(it.server.get("a")).toMatchObject({ data: { color: "yellow" } });
  });

  it("throws for a cache that does not track the manager", async () => {
    await using it = await setUp();
    await using transport = new HttpTransport(it.server.endpoint);
    expect(() => createWriter({ transport, type: configMaps, manager: "other", cache: it.cache })).toThrow(RangeError);
  });
});

describe("Writer.applyStatus", () => {
  it("cuts texts that are longer than the kind allows, because the API server would refuse the whole status", async () => {
    await using server = await FakeApiServer.start();
    await using transport = new HttpTransport(server.endpoint);
    server.put("a", {});
    const type = { ...configMaps, maxStatusTextBytes: 8 };
    const writer = createWriter<ConfigMap & { readonly status?: object }>({
      transport,
      type,
      manager,
      namespace: "ns",
    });
    const status = { text: "0123456789", rows: [{ name: "short", error: "ä".repeat(9) }], count: 12_345_678_901 };
    await writer.applyStatus({ metadata: { name: "a" }, status });
    const sent = server.requests.find(({ method }) => method === "PATCH")?.body;
    expect(sent).toMatchObject({
      status: { text: "01234…", rows: [{ name: "short", error: "ää…" }], count: 12_345_678_901 },
    });
  });

  it("writes only the status", async () => {
    await using it = await setUp();
    type WithStatus = ConfigMap & { readonly status?: { readonly ready: boolean } };
    await using transport = new HttpTransport(it.server.endpoint);
    const writer = createWriter<WithStatus>({ transport, type: configMaps, manager, namespace: "ns", cache: it.cache });
    it.server.put("a", { color: "red" });
    const metadata = { name: "a", labels: { left: "out" } };
    expect(await writer.applyStatus({ metadata, status: { ready: true } })).toBe("written");
    expect(await writer.applyStatus({ metadata, status: { ready: true } })).toBe("unchanged");
    expect(it.server.requests).toMatchObject([{ path: "/api/v1/namespaces/ns/configmaps/a/status" }]);
    expect(it.server.requests[0]?.body).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", namespace: "ns" },
      status: { ready: true },
    });
  });
});

describe("Writer.showsStatus", () => {
  type WithStatus = ConfigMap & { readonly status?: { readonly ready: boolean } };

  /** The object in this version, with these fields of its status owned by the manager. */
  function stored(resourceVersion: string, status: object | undefined): KubeObject {
    const fields = Object.fromEntries(Object.keys(status ?? {}).map((name) => [`f:${name}`, {}]));
    const entry = { manager, operation: "Apply", subresource: "status", fieldsV1: { "f:status": fields } };
    const metadata = { name: "a", namespace: "ns", uid: "1", resourceVersion, managedFields: status ? [entry] : [] };
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata, ...(status && { status }) };
    return object;
  }

  it("is false once somebody has changed, removed or replaced the status, and not before the cache knows", async () => {
    await using it = await setUp();
    const { cache } = it;
    await using transport = new HttpTransport(it.server.endpoint);
    const writer = createWriter<WithStatus>({ transport, type: configMaps, manager, namespace: "ns", cache });
    const object = { metadata: { name: "a" } };
    expect(writer.showsStatus(object)).toBe(true); // nothing was applied
    const { metadata } = it.server.put("a", {});
    cache.upsert(stored(metadata.resourceVersion ?? "", undefined));
    await writer.applyStatus({ ...object, status: { ready: true } });
    expect(writer.showsStatus(object)).toBe(true); // the cache does not show the write yet
    const version = Number(it.server.get("a")?.metadata.resourceVersion);
    const shownAfter = (more: number, status: object | undefined): boolean => {
      cache.upsert(stored(`${version + more}`, status));
      cache.advance(`${version + more}`);
      return writer.showsStatus(object);
    };
    expect(shownAfter(0, { ready: true })).toBe(true);
    expect(shownAfter(1, { ready: true })).toBe(true); // somebody has changed something else
    expect(shownAfter(2, { ready: false })).toBe(false);
    expect(shownAfter(3, undefined)).toBe(false);
    expect(shownAfter(4, { ready: true })).toBe(true);
  });
});

describe("a status that another manager replaces again and again", () => {
  type WithConditions = ConfigMap & { readonly status?: { readonly conditions: readonly object[] } };
  const minuteMs = 60_000;

  it("rests for a minute after the third revert, unless there is something else to say", async () => {
    await using it = await setUp();
    const { cache, server } = it;
    await using transport = new HttpTransport(server.endpoint);
    const time = { ms: 0 };
    const watchOthers = { nowMs: () => time.ms, after: () => () => undefined };
    const options = { transport, type: configMaps, manager, namespace: "ns", cache, watchOthers };
    const writer = createWriter<WithConditions>(options);
    /** What a controller sends: the other's condition has another status, so the transition is always new. */
    const write = (message: string) => {
      const ready = { type: "Ready", status: "False", message, lastTransitionTime: new Date(time.ms).toISOString() };
      return writer.applyStatus({ metadata: { name: "a" }, status: { conditions: [ready] } });
    };
    /** Another manager has replaced the status, and the cache knows it. */
    const replace = (): void => {
      const { resourceVersion = "" } = server.put("a", {}).metadata;
      const metadata = { name: "a", namespace: "ns", uid: "1", resourceVersion, managedFields: [] };
      cache.upsert({ apiVersion: "v1", kind: "ConfigMap", metadata });
      cache.advance(resourceVersion);
    };
    const results: string[] = [];
    const answer = async (message = "no pods"): Promise<void> => {
      time.ms += 1_000;
      replace();
      results.push(await write(message));
    };
    replace();
    await write("no pods");
    for (let nth = 1; nth <= 4; nth++) await answer();
    expect(results.splice(0)).toEqual(["written", "written", "written", "unchanged"]);
    await answer("1 of 2 pods");
    time.ms += minuteMs;
    await answer("1 of 2 pods");
    await answer("1 of 2 pods");
    expect(results).toEqual(["written", "written", "unchanged"]);
  });
});

describe("Writer.delete", () => {
  it("deletes the object in the version that was seen", async () => {
    await using it = await setUp();
    const { metadata } = it.server.put("a", {});
    await it.writer.delete({ metadata });
    expect(it.server.get("a")).toBeUndefined();
    const { uid, resourceVersion } = metadata;
    expect(it.server.requests).toMatchObject([
      { body: { kind: "DeleteOptions", preconditions: { uid, resourceVersion } } },
    ]);
  });

  it("succeeds for an object that does not exist or is being deleted", async () => {
    await using it = await setUp();
    await it.writer.delete({ metadata: { name: "gone" } });
    await it.writer.delete({ metadata: { name: "a", deletionTimestamp: "2026-11-20T00:00:00Z" } });
    expect(it.requests()).toEqual(["DELETE gone"]);
  });

  it("rejects with Conflict when the object has changed", async () => {
    await using it = await setUp();
    it.server.failNext({ status: 409 });
    await expect(it.writer.delete({ metadata: { name: "a" } })).rejects.toMatchObject({ code: "Conflict" });
  });
});
