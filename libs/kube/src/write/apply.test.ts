// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createWriter } from "./apply.ts";
import { HttpTransport } from "../http/http-transport.ts";
import type { KubeObject } from "../kube-object.ts";
import { ObjectStore } from "../cache/object-store.ts";
import { configMaps, FakeApiServer, type ConfigMap } from "../testing/fake-api-server.ts";

const manager = "test-manager";

/** A server, a writer, and a cache between them that hears only what a test tells it. */
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
    /** What was asked of the server since the last call. */
    asked: () => server.requests.splice(0).map(({ method, path }) => `${method} ${path.split("/").slice(6).join("/")}`),
    /** Tells the cache of the object as the server has it, with `data` owned by us. */
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

/** The object as it is when our manager has applied all its data. */
function owning(object: ConfigMap): KubeObject {
  const fields = Object.fromEntries(Object.keys(object.data ?? {}).map((name) => [`f:${name}`, {}]));
  const entry = { manager, operation: "Apply", fieldsV1: { "f:data": fields } };
  return { ...object, metadata: { ...object.metadata, managedFields: [entry] } };
}

const red = { metadata: { name: "a" }, data: { color: "red" } };
const blue = { metadata: { name: "a" }, data: { color: "blue" } };

describe("Writer.apply", () => {
  it("applies by force, under its manager, and asks back for no more than metadata", async () => {
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

  it("sends nothing when the object is so, also just after a start", async () => {
    await using it = await setUp();
    it.server.put("a", { color: "red" });
    it.hear("a");
    expect(await it.writer.apply(red)).toBe("unchanged");
    expect(it.asked()).toEqual([]);
  });

  it("sends nothing twice while the cache has yet to hear of the first", async () => {
    await using it = await setUp();
    expect([await it.writer.apply(red), await it.writer.apply(red)]).toEqual(["written", "unchanged"]);
    it.server.put("other", {});
    expect([await it.writer.apply(blue), await it.writer.apply(blue)]).toEqual(["written", "unchanged"]);
    it.hear("a");
    expect([await it.writer.apply(blue), await it.writer.apply(red)]).toEqual(["unchanged", "written"]);
    expect(it.asked()).toEqual(["PATCH a", "PATCH a", "PATCH a"]);
  });

  it("undoes what others do to its fields", async () => {
    await using it = await setUp();
    await it.writer.apply(red);
    it.hear("a");
    it.server.put("a", { color: "green" });
    it.hear("a");
    expect(await it.writer.apply(red)).toBe("written");
    expect(it.server.get("a")?.data).toEqual({ color: "red" });
  });

  it("creates again what was deleted, though the cache saw it neither come nor go", async () => {
    await using it = await setUp();
    await it.writer.apply(red);
    it.server.delete("a");
    expect(await it.writer.apply(red)).toBe("unchanged");
    it.cache.advance("102");
    expect(await it.writer.apply(red)).toBe("written");
    expect(it.server.get("a")?.data).toEqual({ color: "red" });
  });

  it("takes what the server made of the intent for the intent", async () => {
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

  it("remembers that for as long as there is the object, whatever else comes and goes", async () => {
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
    it.asked();
    it.hear("b", { color: "RED" });
    await it.writer.apply(red);
    await it.writer.apply({ ...red, metadata: { name: "b" } });
    expect(it.asked()).toEqual(["PATCH b"]);
  });

  it("has written nothing where the server finds nothing to change", async () => {
    await using it = await setUp();
    const stored = it.server.put("a", { color: "red" });
    it.hear("a", { color: "RED" }); // as the server says it
    it.server.failNext({ status: 200, body: JSON.stringify(stored) });
    expect([await it.writer.apply(red), await it.writer.apply(red)]).toEqual(["unchanged", "unchanged"]);
    expect(it.asked()).toEqual(["PATCH a"]);
  });

  it("asks the server first where there is no cache", async () => {
    await using it = await setUp();
    await using transport = new HttpTransport(it.server.endpoint);
    const writer = createWriter<ConfigMap>({ transport, type: configMaps, manager });
    const intent = { ...red, metadata: { name: "a", namespace: "ns" } };
    expect(await writer.apply(intent)).toBe("written");
    expect(it.asked()).toEqual(["GET a", "PATCH a"]);
    const body = JSON.stringify(owning(it.server.put("a", { color: "red" })));
    it.server.failNext({ status: 200, body });
    expect(await writer.apply(intent)).toBe("unchanged");
    expect(it.asked()).toEqual(["GET a"]);
  });

  it("writes no other object than the one of the uid", async () => {
    await using it = await setUp();
    it.server.put("a", { color: "red" });
    const intent = { ...blue, metadata: { name: "a", uid: "of one that is gone" } };
    await expect(it.writer.apply(intent)).rejects.toMatchObject({ code: "Conflict" });
    expect(it.server.get("a")?.data).toEqual({ color: "red" });
  });

  it("empties a map that the server will not empty in one step", async () => {
    await using it = await setUp();
    it.server.failNext({ status: 422 });
    expect(await it.writer.apply({ metadata: { name: "a" }, data: {} })).toBe("written");
    const [first, lean, last] = it.server.requests.map(({ body }) => body);
    expect([first, last]).toEqual([last, expect.objectContaining({ data: {} })]);
    expect(lean).not.toHaveProperty("data");
  });

  it("rejects with Invalid when nothing can be left out", async () => {
    await using it = await setUp();
    it.server.failNext({ status: 422 });
    await expect(it.writer.apply(red)).rejects.toMatchObject({ code: "Invalid" });
    expect(it.asked()).toEqual(["PATCH a"]);
  });

  it("takes nothing from others where it is told not to", async () => {
    await using it = await setUp();
    await it.writer.apply(red, undefined, { force: false });
    await it.writer.apply(blue);
    expect(it.server.requests.map(({ query }) => query["force"])).toEqual(["false", "true"]);
  });

  it("writes an object only as it was seen, or as this writer has left it since", async () => {
    await using it = await setUp();
    await it.writer.apply(red);
    it.hear("a", red.data);
    const seenVersion = it.server.get("a")?.metadata.resourceVersion ?? "";
    const write = (color: string) => it.writer.apply({ ...red, data: { color } }, undefined, { seenVersion });
    expect(await write("blue")).toBe("written");
    expect(await write("green")).toBe("written"); // what was seen is older than what was written
    it.server.put("a", { color: "yellow" });
    await expect(write("black")).rejects.toMatchObject({ code: "Conflict" });
    expect(it.server.get("a")).toMatchObject({ data: { color: "yellow" } });
  });

  it("is not made for a cache that does not know its manager", async () => {
    await using it = await setUp();
    await using transport = new HttpTransport(it.server.endpoint);
    expect(() => createWriter({ transport, type: configMaps, manager: "other", cache: it.cache })).toThrow(RangeError);
  });
});

describe("Writer.applyStatus", () => {
  it("writes the status alone, under its own ownership", async () => {
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

describe("Writer.delete", () => {
  it("deletes the object as it was seen", async () => {
    await using it = await setUp();
    const { metadata } = it.server.put("a", {});
    await it.writer.delete({ metadata });
    expect(it.server.get("a")).toBeUndefined();
    const { uid, resourceVersion } = metadata;
    expect(it.server.requests).toMatchObject([
      { body: { kind: "DeleteOptions", preconditions: { uid, resourceVersion } } },
    ]);
  });

  it("is content with one that is gone, or is about to go", async () => {
    await using it = await setUp();
    await it.writer.delete({ metadata: { name: "gone" } });
    await it.writer.delete({ metadata: { name: "a", deletionTimestamp: "2026-11-20T00:00:00Z" } });
    expect(it.asked()).toEqual(["DELETE gone"]);
  });

  it("rejects with Conflict when the object has changed", async () => {
    await using it = await setUp();
    it.server.failNext({ status: 409 });
    await expect(it.writer.delete({ metadata: { name: "a" } })).rejects.toMatchObject({ code: "Conflict" });
  });
});
