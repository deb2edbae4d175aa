// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { addFinalizer, removeFinalizer } from "./finalizers.ts";
import { HttpTransport } from "../http/http-transport.ts";
import { patchMetadata } from "./patch-metadata.ts";
import { configMaps, FakeApiServer } from "../testing/fake-api-server.ts";

async function setUp() {
  const server = await FakeApiServer.start();
  const transport = new HttpTransport(server.endpoint);
  return {
    server,
    common: { transport, type: configMaps },
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe("patchMetadata", () => {
  it("sets and takes away, leaves all else, and sends nothing when it is so", async () => {
    await using it = await setUp();
    const object = it.server.put("a", { color: "red" });
    const set = { labels: { x: "1", y: "2" }, annotations: { note: "n" } };
    expect(await patchMetadata({ ...it.common, object, ...set })).toBe("written");
    const after = it.server.get("a") ?? object;
    expect(after).toMatchObject({ metadata: set, data: { color: "red" } });

    expect(await patchMetadata({ ...it.common, object: after, ...set, labels: { x: "1", z: null } })).toBe("unchanged");
    expect(await patchMetadata({ ...it.common, object: after, labels: { x: null, y: "2" } })).toBe("written");
    expect(it.server.get("a")?.metadata.labels).toEqual({ y: "2" });
    expect(it.server.requests.map(({ body }) => body)).toEqual([
      { metadata: { uid: object.metadata.uid, ...set } },
      { metadata: { uid: object.metadata.uid, labels: { x: null } } },
    ]);
  });

  it("changes no other object of the name", async () => {
    await using it = await setUp();
    const object = it.server.put("a", {});
    const gone = { metadata: { ...object.metadata, uid: "of one that is gone" } };
    const failure = patchMetadata({ ...it.common, object: gone, labels: { x: "1" } });
    await expect(failure).rejects.toMatchObject({ code: "Conflict" });
  });
});

describe("finalizers", () => {
  it("come and go, among those of others, and nothing is sent when nothing changes", async () => {
    await using it = await setUp();
    const seen = () => it.server.get("a") ?? { metadata: { name: "gone" } };
    it.server.put("a", {});
    expect(await addFinalizer({ ...it.common, object: seen(), finalizer: "theirs" })).toBe("written");
    expect(await addFinalizer({ ...it.common, object: seen(), finalizer: "ours" })).toBe("written");
    expect(await addFinalizer({ ...it.common, object: seen(), finalizer: "ours" })).toBe("unchanged");
    expect(seen().metadata).toMatchObject({ finalizers: ["theirs", "ours"] });
    expect(await removeFinalizer({ ...it.common, object: seen(), finalizer: "ours" })).toBe("written");
    expect(await removeFinalizer({ ...it.common, object: seen(), finalizer: "ours" })).toBe("unchanged");
    expect(seen().metadata).toMatchObject({ finalizers: ["theirs"] });
    expect(it.server.requests).toHaveLength(3);
  });

  it("do not overwrite what others did meanwhile", async () => {
    await using it = await setUp();
    const object = it.server.put("a", {});
    await addFinalizer({ ...it.common, object, finalizer: "theirs" });
    const stale = addFinalizer({ ...it.common, object, finalizer: "ours" });
    await expect(stale).rejects.toMatchObject({ code: "Conflict" });
    expect(it.server.get("a")?.metadata.finalizers).toEqual(["theirs"]);
  });

  it("need not be removed from what is gone", async () => {
    await using it = await setUp();
    const metadata = { name: "gone", namespace: "ns", finalizers: ["ours"] };
    expect(await removeFinalizer({ ...it.common, object: { metadata }, finalizer: "ours" })).toBe("unchanged");
    await expect(addFinalizer({ ...it.common, object: { metadata }, finalizer: "b" })).rejects.toMatchObject({
      code: "NotFound",
    });
  });
});
