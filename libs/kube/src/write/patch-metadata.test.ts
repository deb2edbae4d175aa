// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
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
  it("sets and removes keys, keeps all other fields, and sends nothing when the object has the values", async () => {
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

  it("rejects with Conflict for another object of the same name", async () => {
    await using it = await setUp();
    const object = it.server.put("a", {});
    const gone = { metadata: { ...object.metadata, uid: "of a deleted object" } };
    const failure = patchMetadata({ ...it.common, object: gone, labels: { x: "1" } });
    await expect(failure).rejects.toMatchObject({ code: "Conflict" });
  });
});
